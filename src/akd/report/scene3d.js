"use strict";
// A skinned character in WebGL 2, in step with the videos of the page. Its data is JSON in the
// element before the script: arrays in base64, a texture as a data URI, bones of every clip.
for (const box of document.querySelectorAll(".scene3d")) {
  const data = JSON.parse(box.querySelector("script").textContent);
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl2", { antialias: true, stencil: true });
  if (gl) start(box, canvas, gl, data);
  else box.append("This browser has no WebGL 2: see the videos.");
}

function start(box, canvas, gl, data) {
  const decode = (text, Kind) =>
    new Kind(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const vertex = `#version 300 es
    layout(location=0) in vec3 place; layout(location=1) in vec3 colour;
    layout(location=2) in vec3 uv; layout(location=3) in uvec4 bones;
    layout(location=4) in vec4 share; layout(location=5) in vec3 normal;
    uniform highp sampler2D frame; uniform mat4 view; uniform bool shadow;
    uniform vec3 sun; out vec3 world, tint, texel, across;
    vec3 moved(uint b, vec4 p) {
      int x = int(b) * 3;
      return vec3(dot(texelFetch(frame, ivec2(x, 0), 0), p),
        dot(texelFetch(frame, ivec2(x + 1, 0), 0), p), dot(texelFetch(frame, ivec2(x + 2, 0), 0), p));
    }
    void main() {
      world = across = vec3(0.0);
      for (int i = 0; i < 4; i++) {
        world += share[i] * moved(bones[i], vec4(place, 1.0));
        across += share[i] * moved(bones[i], vec4(normal, 0.0));
      }
      if (shadow) world -= sun * (world.y / sun.y);
      tint = colour; texel = uv;
      gl_Position = view * vec4(world, 1.0);
    }`;
  const fragment = `#version 300 es
    precision highp float; precision highp sampler2DArray;
    in vec3 world, tint, texel, across; out vec4 seen;
    uniform sampler2DArray images; uniform bool shadow; uniform vec4 ghost; uniform vec3 sun;
    vec3 encoded(vec3 c) { return mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055,
      step(0.0031308, c)); }
    void main() {
      if (shadow) { seen = vec4(0.0, 0.0, 0.0, 0.25); return; }
      vec3 normal = normalize(gl_FrontFacing ? across : -across);
      vec3 base = tint;
      if (texel.z >= 0.0) { vec4 t = texture(images, texel); if (t.a < 0.5) discard;
        base *= pow(t.rgb, vec3(2.2)); }
      float light = 0.55 + 0.15 * normal.y + 0.5 * max(0.0, dot(normal, sun));
      seen = vec4(mix(encoded(base * light), ghost.rgb, ghost.a), ghost.a > 0.0 ? 0.45 : 1.0);
    }`;
  const flat = [`#version 300 es
    layout(location=0) in vec2 corner; uniform mat4 view; uniform vec4 ground; out vec2 at;
    void main() { at = ground.xy + corner * ground.z * 14.0;
      gl_Position = view * vec4(at.x, 0.0, at.y, 1.0); }`, `#version 300 es
    precision highp float; in vec2 at; uniform vec4 ground; uniform vec3 dark; out vec4 seen;
    void main() { vec2 cell = at / (0.5 * ground.z), width = fwidth(cell);
      vec2 line = smoothstep(width * 1.5, vec2(0.0), abs(fract(cell - 0.5) - 0.5));
      float fade = smoothstep(13.0, 3.0, length(at - ground.xy) / ground.z);
      seen = vec4(dark, 0.35 * max(line.x, line.y) * fade); }`];
  const program = (sources) => {
    const made = gl.createProgram();
    [gl.VERTEX_SHADER, gl.FRAGMENT_SHADER].forEach((kind, i) => {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, sources[i]);
      gl.compileShader(shader);
      gl.attachShader(made, shader);
    });
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw Error(gl.getProgramInfoLog(made));
    const named = {};
    for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); i++) {
      const name = gl.getActiveUniform(made, i).name;
      named[name] = gl.getUniformLocation(made, name);
    }
    return { made, named };
  };
  const body = program([vertex, fragment]), floor = program(flat);
  const array = (place, values, size, kind, whole = false) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(place);
    if (whole) gl.vertexAttribIPointer(place, size, kind, 0, 0);
    else gl.vertexAttribPointer(place, size, kind, false, 0, 0);
  };
  const mesh = gl.createVertexArray();
  gl.bindVertexArray(mesh);
  array(0, decode(data.vertices, Float32Array), 3, gl.FLOAT);
  array(1, decode(data.colours, Float32Array), 3, gl.FLOAT);
  array(2, decode(data.uv, Float32Array), 3, gl.FLOAT);
  array(3, decode(data.bones, Uint16Array), 4, gl.UNSIGNED_SHORT, true);
  array(4, decode(data.weights, Float32Array), 4, gl.FLOAT);
  array(5, decode(data.normals, Float32Array), 3, gl.FLOAT);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  const faces = decode(data.faces, Uint32Array);
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
  const plane = gl.createVertexArray();
  gl.bindVertexArray(plane);
  array(0, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), 2, gl.FLOAT);

  const images = gl.createTexture(), frame = gl.createTexture();
  gl.activeTexture(gl.TEXTURE1);
  gl.bindTexture(gl.TEXTURE_2D, frame);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  gl.activeTexture(gl.TEXTURE0);
  gl.bindTexture(gl.TEXTURE_2D_ARRAY, images);
  const side = data.image_size, layers = Math.max(data.images.length, 1);
  gl.texStorage3D(gl.TEXTURE_2D_ARRAY, 1 + Math.log2(side), gl.RGBA8, side, side, layers);
  data.images.forEach((uri, layer) => {
    const image = new Image();
    image.onload = () => {
      gl.activeTexture(gl.TEXTURE0);
      gl.texSubImage3D(gl.TEXTURE_2D_ARRAY, 0, 0, 0, layer, side, side, 1, gl.RGBA,
        gl.UNSIGNED_BYTE, image);
      gl.generateMipmap(gl.TEXTURE_2D_ARRAY);
      draw();
    };
    image.src = uri;
  });
  gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);

  const clips = data.clips.map((clip) => ({ ...clip, frames: decode(clip.frames, Float32Array),
    path: decode(clip.path, Float32Array) }));
  // Above the left shoulder of whoever looks at first; it stays there when the camera turns.
  const sun = [[Math.sin(data.yaw), Math.cos(data.yaw)], [-Math.cos(data.yaw), Math.sin(data.yaw)]]
    .reduce((sum, [x, z]) => [sum[0] + 0.4 * x, sum[1], sum[2] + 0.4 * z], [0, 0.82, 0]);
  let time = 0, yaw = data.yaw, pitch = 0.2, distance = 2.9 * data.reach, shown = data.shown;
  const bar = document.createElement("div");
  bar.className = "choices3d";
  const choice = document.createElement("select"), other = document.createElement("select");
  choice.setAttribute("aria-label", "clip");
  other.setAttribute("aria-label", "ghost");
  other.add(new Option("no ghost", -1));
  clips.forEach((clip, i) => {
    choice.add(new Option(clip.name, i));
    other.add(new Option(`ghost: ${clip.name}`, i));
  });
  choice.value = shown;
  choice.onchange = () => { shown = Number(choice.value); draw(); };
  other.onchange = () => draw();
  bar.append(choice, other);
  box.append(canvas, bar);

  let touch = null;
  canvas.style.touchAction = "pan-y";
  canvas.onpointerdown = (event) => {
    touch = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  };
  canvas.onpointermove = (event) => {
    if (!touch || !event.buttons) return;
    yaw -= (event.clientX - touch[0]) * 0.01;
    pitch = Math.max(-0.1, Math.min(1.5, pitch + (event.clientY - touch[1]) * 0.01));
    touch = [event.clientX, event.clientY];
    draw();
  };
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !canvas.matches(":focus")) return;
    event.preventDefault();
    distance *= Math.exp(event.deltaY * 0.001);
    draw();
  }, { passive: false });
  canvas.tabIndex = 0;

  function camera(target) {
    const [c, s] = [Math.cos(pitch), Math.sin(pitch)];
    const back = [c * Math.sin(yaw), s, c * Math.cos(yaw)];
    const right = [Math.cos(yaw), 0, -Math.sin(yaw)];
    const up = [back[1] * right[2] - back[2] * right[1], back[2] * right[0] - back[0] * right[2],
      back[0] * right[1] - back[1] * right[0]];
    const eye = target.map((v, i) => v + distance * back[i]);
    const f = 1 / Math.tan(0.3), aspect = canvas.width / canvas.height;
    const near = 0.05 * distance, far = 20 * distance, z = (near + far) / (near - far);
    const w = 2 * near * far / (near - far), m = new Float32Array(16);
    [right, up, back].forEach((axis, r) => {
      const shift = -axis.reduce((sum, v, i) => sum + v * eye[i], 0);
      const scale = [f / aspect, f, z][r];
      [...axis, shift].forEach((v, k) => { m[4 * k + r] = scale * v; });
      if (r === 2) [...axis, shift].forEach((v, k) => { m[4 * k + 3] = -v; });
    });
    m[14] += w;
    return m;
  }
  function pose(clip) {
    const count = clip.path.length / 3, at = Math.min(Math.round(time * data.fps), count - 1);
    const size = clip.frames.length / count;
    gl.activeTexture(gl.TEXTURE1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, size / 4, 1, 0, gl.RGBA, gl.FLOAT,
      clip.frames.subarray(at * size, (at + 1) * size));
    return clip.path.subarray(3 * at, 3 * at + 3);
  }
  let waiting = false;
  function draw() {
    if (!waiting) requestAnimationFrame(render);
    waiting = true;
  }
  function render() {
    waiting = false;
    const ratio = Math.min(devicePixelRatio, 2);
    canvas.width = Math.max(1, canvas.clientWidth * ratio);
    canvas.height = Math.max(1, canvas.clientHeight * ratio);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const target = [...pose(clips[shown])], view = camera(target);
    const dark = matchMedia("(prefers-color-scheme: dark)").matches ? 0.8 : 0.2;
    gl.useProgram(floor.made);
    gl.uniformMatrix4fv(floor.named.view, false, view);
    gl.uniform4f(floor.named.ground, target[0], target[2], data.size, 0);
    gl.uniform3f(floor.named.dark, dark, dark, dark);
    gl.bindVertexArray(plane);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.useProgram(body.made);
    gl.uniform1i(body.named.images, 0);
    gl.uniform1i(body.named.frame, 1);
    gl.uniformMatrix4fv(body.named.view, false, view);
    gl.uniform4f(body.named.ghost, 0, 0, 0, 0);
    gl.uniform3f(body.named.sun, ...sun);
    gl.bindVertexArray(mesh);
    gl.uniform1i(body.named.shadow, 1);
    gl.enable(gl.STENCIL_TEST);  // a point is darkened once
    gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    gl.drawElements(gl.TRIANGLES, faces.length, gl.UNSIGNED_INT, 0);
    gl.disable(gl.STENCIL_TEST);
    gl.depthMask(true);
    gl.uniform1i(body.named.shadow, 0);
    gl.drawElements(gl.TRIANGLES, faces.length, gl.UNSIGNED_INT, 0);
    if (Number(other.value) >= 0) {
      pose(clips[Number(other.value)]);
      gl.uniform4f(body.named.ghost, 0.25, 0.5, 0.9, 0.7);
      gl.drawElements(gl.TRIANGLES, faces.length, gl.UNSIGNED_INT, 0);
    }
  }
  document.addEventListener("akd-time", (event) => { time = event.detail; draw(); });
  new ResizeObserver(draw).observe(canvas);
  draw();
}
