// The data: in this file, or from the server that sent it. Both sources have the same asynchronous methods.

const served = document.querySelector("meta[name=codeplan-source]").content === "server";

const HEADS_IN_BLOCK = 64;

const inFile = {
  overview: async () => JSON.parse(document.getElementById("overview").textContent),
  skills: () => unpacked("skills"),
  skill: (row, at) => unpacked(`s${at}`),
  head: async (id) => (await unpacked(`h${Math.floor(id / HEADS_IN_BLOCK)}`))?.[id % HEADS_IN_BLOCK] ?? null,
  page: (id, page) => unpacked(`e${id}p${page}`),
  event: async () => null,
};

const atServer = {
  overview: () => fetched("api/overview"),
  skills: () => fetched("api/skills"),
  skill: (row) => fetched(`api/skills/${encodeURIComponent(row.env)}/${encodeURIComponent(row.name)}`),
  head: (id) => fetched(`api/episodes/${id}`),
  page: (id, page) => fetched(`api/episodes/${id}/pages/${page}`),
  event: (id, event) => fetched(`api/episodes/${id}/events/${event}`),
};

const data = served ? atServer : inFile;

/** The content of a block of this file; null if it was left out. */
async function unpacked(id) {
  const block = document.getElementById(id) || (await parsed(), document.getElementById(id));
  if (!block) return null;
  const packed = Uint8Array.from(atob(block.textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** Resolves when the file is loaded. */
function parsed() {
  if (document.readyState !== "loading") return Promise.resolve();
  return new Promise((go) => document.addEventListener("DOMContentLoaded", go, { once: true }));
}

const seen = new Map();

/** The server's answer, from the cache if it has not changed. */
async function fetched(address) {
  const known = seen.get(address);
  const answer = await fetch(address, { headers: known ? { "If-None-Match": known.tag } : {} });
  if (answer.status === 304) return known.value;
  if (answer.status === 404) return null;
  if (!answer.ok) throw new Error((await answer.text()).slice(0, 300));
  const value = await answer.json();
  const tag = answer.headers.get("ETag");
  if (tag) {
    seen.set(address, { tag, value });
    if (seen.size > 40) seen.delete(seen.keys().next().value);
  }
  return value;
}
