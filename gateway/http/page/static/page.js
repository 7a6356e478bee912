// The page of the gateway: asks the public API and shows the cascade's trace. No framework, nothing from elsewhere.

const $ = (id) => document.getElementById(id);
const ideas = [
  "a small blue star on a beige background",
  "a yellow square above a purple circle on a grey background",
  "three purple crosses on a white background",
  "a red circle, a yellow star and a green heart in a row on a navy background",
];

function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

async function api(path, options = {}) {
  const headers = { Authorization: `Bearer ${$("key").value.trim()}`, "Content-Type": "application/json" };
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch {
    throw new Error("The gateway does not answer. Is it still running?");
  }
  const body = await response.json().catch(() => null);
  if (!response.ok) throw new Error(body?.error?.message ?? `The gateway answered ${response.status}.`);
  return body;
}

async function loadModels() {
  const { data } = await api("/v1/models");
  $("model").replaceChildren(...data.map((model) => element("option", { value: model.id, textContent: model.id })));
  const words = data[0]?.maquette.vocabulary ?? [];
  $("words").hidden = words.length === 0;
  $("words").querySelector("p").textContent = words.join(" ");
}

function say(text, fault = false) {
  $("message").textContent = text;
  $("message").classList.toggle("fault", fault);
}

function figure(attempt, chosen, prompt) {
  const caption = element("figcaption", {}, element("strong", { textContent: `${attempt.variant}, ${attempt.steps} steps` }));
  if (attempt.score !== null) {
    const meter = element("div", { className: `meter ${attempt.verdict}` }, element("i"), element("u"));
    meter.querySelector("i").style.width = `${attempt.score * 100}%`;
    meter.querySelector("u").style.left = `calc(${attempt.threshold * 100}% - 1px)`;
    meter.title = "Score, and the threshold it was held against";
    const climbs = attempt.verdict === "escalate";
    caption.append(
      meter,
      `score ${attempt.score.toFixed(2)}, threshold ${attempt.threshold.toFixed(2)}: `,
      element("span", { className: climbs ? "escalate-word" : "accept", textContent: climbs ? "climbs" : "good enough" }),
      element("br"),
    );
  }
  caption.append(attempt.cached ? "from the cache, 0 GPU-ms" : `${attempt.gpu_ms} GPU-ms`);
  const image = element("img", { src: new URL(attempt.url).pathname + new URL(attempt.url).search, alt: `${prompt}, drawn by ${attempt.variant}` });
  return element("figure", { className: chosen ? "chosen" : "" }, image, caption);
}

function show(answer, prompt) {
  const { gpu_ms, pictures } = answer.maquette;
  const cost = { quoted: gpu_ms.quoted, held: gpu_ms.held, charged: gpu_ms.charged };
  $("cost").hidden = false;
  $("cost").replaceChildren(
    ...Object.entries(cost).map(([name, value]) =>
      element("div", {}, element("b", { textContent: value.toLocaleString("en") }), element("span", { textContent: `GPU-ms ${name}` })),
    ),
  );
  $("pictures").replaceChildren(
    ...pictures.map((picture) => {
      const stages = picture.attempts.map((attempt, place) => figure(attempt, place === picture.attempts.length - 1, prompt));
      const card = element("article", {}, element("h2", { textContent: `Seed ${picture.seed}` }), element("div", { className: "stages" }, ...stages));
      if (picture.error) card.append(element("p", { textContent: picture.error }));
      return card;
    }),
  );
}

async function draw(event) {
  event.preventDefault();
  const prompt = $("prompt").value;
  const body = { prompt, model: $("model").value || null, quality: $("quality").value, n: Number($("n").value), response_format: "url" };
  if ($("seed").value !== "") body.seed = Number($("seed").value);
  $("go").disabled = true;
  say("Drawing…");
  try {
    const started = performance.now();
    show(await api("/v1/images/generations", { method: "POST", body: JSON.stringify(body) }), prompt);
    say(`Answered in ${((performance.now() - started) / 1000).toFixed(2)} s.`);
  } catch (error) {
    say(error.message, true);
  } finally {
    $("go").disabled = false;
  }
}

const given = new URLSearchParams(location.hash.slice(1)).get("key");
if (given) history.replaceState(null, "", location.pathname);
$("key").value = given ?? sessionStorage.getItem("maquette-key") ?? "";
$("key").addEventListener("change", () => {
  sessionStorage.setItem("maquette-key", $("key").value);
  loadModels().then(() => say("Ready."), (error) => say(error.message, true));
});
$("ideas").replaceChildren(...ideas.map((idea) => element("button", { type: "button", textContent: idea, onclick: () => { $("prompt").value = idea; } })));
$("ask").addEventListener("submit", draw);
if ($("key").value) $("key").dispatchEvent(new Event("change"));
