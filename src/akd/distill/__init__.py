"""Score distillation of a video model into a character's joint angles."""
