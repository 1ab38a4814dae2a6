// Drives the Hugging Face client for JavaScript against a datastore.
//   HUB=http://127.0.0.1:8000/v1/hf TOKEN=hf_… OWNER=ada TYPE=dataset node client.mjs
// Prints a line "ok NAME" or "not ok NAME: why" for each step; the exit status is 1 when one failed.
import {
  commit, countCommits, createBranch, createRepo, datasetInfo, deleteBranch, deleteFile, deleteRepo, downloadFile, fileDownloadInfo,
  fileExists, listCommits, listDatasets, listFiles, listModels, modelInfo, pathsInfo, repoExists, uploadFile, uploadFiles, whoAmI,
} from "@huggingface/hub";
import { createHash, randomBytes } from "node:crypto";

const { HUB: hubUrl, TOKEN: accessToken, OWNER: owner, TYPE: type = "dataset" } = process.env;
const name = `${owner}/e2e-${type}-${process.pid}`;
const repo = { type, name };
const credentials = { hubUrl, accessToken };
let failed = 0;

async function step(title, run) {
  try {
    await run();
    console.log(`ok ${type}: ${title}`);
  } catch (error) {
    failed++;
    console.log(`not ok ${type}: ${title}: ${String(error.message).slice(0, 300)}`);
  }
}
function equal(actual, expected, what = "value") {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: expected ${b}, got ${a}`);
}
async function refuses(run, status) {
  try {
    await run();
  } catch (error) {
    if (error.statusCode !== status) throw new Error(`expected status ${status}, got ${error.statusCode}: ${error.message}`);
    return error;
  }
  throw new Error(`expected status ${status}, but it went well`);
}
async function all(iterator) {
  const out = [];
  for await (const item of iterator) out.push(item);
  return out;
}
const files = async (options = {}) => (await all(listFiles({ repo, recursive: true, ...credentials, ...options })))
  .filter((entry) => entry.type === "file").map((entry) => entry.path).sort();
const text = async (path, options = {}) => (await downloadFile({ repo, path, ...credentials, ...options })).text();
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

const big = randomBytes(3_000_000), huge = randomBytes(9_000_000);

await step("whoAmI", async () => {
  const me = await whoAmI(credentials);
  equal(me.name, owner);
  equal(me.auth.accessToken.createdAt instanceof Date && !isNaN(me.auth.accessToken.createdAt), true, "createdAt is a date");
});
await step("createRepo", async () => {
  const made = await createRepo({ repo, private: true, ...credentials });
  equal(made.repoUrl, `${hubUrl}/${type === "dataset" ? "datasets/" : ""}${name}`);
  equal(await repoExists({ repo, ...credentials }), true);
});
await step("createRepo again is a conflict that names the repository", async () => {
  const error = await refuses(() => createRepo({ repo, ...credentials }), 409);
  equal(error.data.url, `${hubUrl}/${type === "dataset" ? "datasets/" : ""}${name}`);
});
await step("an empty repository lists nothing", async () => equal(await files(), []));
await step("uploadFiles, small ones", async () => {
  const out = await uploadFiles({
    repo, ...credentials, commitTitle: "First files",
    files: [
      { path: "README.md", content: new Blob(["---\nlicense: mit\n---\n# Hello\n"]) },
      { path: "data/train.jsonl", content: new Blob(['{"a": 1}\n{"a": 2}\n']) },
      { path: "dir/with space, ünïcode & 100%+#.txt", content: new Blob(["odd name\n"]) },
      { path: "empty.txt", content: new Blob([]) },
    ],
  });
  equal(/^[0-9a-f]{40}$/.test(out.commit.oid), true, "commit id");
  equal(new URL(out.commit.url).pathname.endsWith(`/commit/${out.commit.oid}`), true, "commit url");
});
await step("listFiles", async () => equal(await files(),
  ["README.md", "data/train.jsonl", "dir/with space, ünïcode & 100%+#.txt", "empty.txt"]));
await step("listFiles of a folder, with the last commit", async () => {
  const [entry] = await all(listFiles({ repo, path: "data", expand: true, ...credentials }));
  equal(entry.path, "data/train.jsonl");
  equal(entry.lastCommit.title, "First files");
});
await step("downloadFile", async () => {
  equal(await text("data/train.jsonl"), '{"a": 1}\n{"a": 2}\n');
  equal(await text(encodeURIComponent("dir/with space, ünïcode & 100%+#.txt").replaceAll("%2F", "/")), "odd name\n");
  equal(await downloadFile({ repo, path: "none.txt", ...credentials }), null);
});
await step("large files go to LFS", async () => {
  await uploadFiles({ repo, ...credentials, commitTitle: "Large", files: [
    { path: "big.bin", content: new Blob([big]) }, { path: "sub dir/huge.safetensors", content: new Blob([huge]) },
    { path: "small.bin", content: new Blob(["small"]) },
  ] });
  const entries = await all(listFiles({ repo, recursive: true, ...credentials }));
  const entry = entries.find((e) => e.path === "big.bin");
  equal(entry.size, big.length);
  equal(entry.lfs.oid, sha256(big));
  equal(entries.find((e) => e.path === "small.bin").lfs, undefined);
  equal((await text(".gitattributes")).includes("big.bin filter=lfs diff=lfs merge=lfs -text"), true, "attributes");
});
await step("downloadFile of a large file", async () => {
  for (const [path, bytes] of [["big.bin", big], ["sub%20dir/huge.safetensors", huge]]) {
    const blob = await downloadFile({ repo, path, ...credentials });
    equal(blob.size, bytes.length);
    equal(sha256(new Uint8Array(await blob.arrayBuffer())), sha256(bytes));
    equal(sha256(new Uint8Array(await blob.slice(1_000_000, 1_500_000).arrayBuffer())), sha256(bytes.subarray(1_000_000, 1_500_000)));
  }
});
await step("fileDownloadInfo", async () => {
  const large = await fileDownloadInfo({ repo, path: "big.bin", ...credentials });
  equal(large.size, big.length);
  // Behind a redirect the client sees the object store's own tag.
  if (!process.env.DIRECT) equal(large.etag.replaceAll('"', ""), sha256(big));
  const raw = await fileDownloadInfo({ repo, path: "big.bin", raw: true, ...credentials });
  equal(raw.size < 200, true, "a pointer is short");
  const small = await fileDownloadInfo({ repo, path: "data/train.jsonl", ...credentials });
  equal(small.size, 18);
  equal(await fileDownloadInfo({ repo, path: "none", ...credentials }), null);
});
await step("the same upload again changes nothing", async () => {
  const before = await countCommits({ repo, revision: "main", ...credentials });
  await uploadFile({ repo, ...credentials, file: { path: "big.bin", content: new Blob([big]) } });
  equal(await countCommits({ repo, revision: "main", ...credentials }), before);
});
await step("commit with a change and deletions", async () => {
  await commit({ repo, ...credentials, title: "Change", description: "More words.\n\nAnd more.", operations: [
    { operation: "addOrUpdate", path: "data/train.jsonl", content: new Blob(['{"a": 3}\n']) },
    { operation: "delete", path: "empty.txt" },
    { operation: "delete", path: "small.bin" },
  ] });
  equal(await text("data/train.jsonl"), '{"a": 3}\n');
  equal(await fileExists({ repo, path: "empty.txt", ...credentials }), false);
});
await step("deleteFile", async () => {
  await uploadFile({ repo, ...credentials, file: { path: "gone.txt", content: new Blob(["x"]) } });
  await deleteFile({ repo, path: "gone.txt", ...credentials });
  equal((await files()).includes("gone.txt"), false);
});
await step("listCommits in pages", async () => {
  const commits = await all(listCommits({ repo, batchSize: 2, ...credentials }));
  equal(commits.length, await countCommits({ repo, revision: "main", ...credentials }));
  equal(commits.at(-1).title, "First files");
  const change = commits.find((c) => c.title === "Change");
  equal(change.message.trim(), "More words.\n\nAnd more.");
  equal(change.authors[0].username, owner);
});
await step("a stale parentCommit is refused", async () => {
  const [first] = (await all(listCommits({ repo, ...credentials }))).slice(-1);
  await refuses(() => commit({ repo, ...credentials, title: "Late", parentCommit: first.oid,
    operations: [{ operation: "addOrUpdate", path: "late.txt", content: new Blob(["x"]) }] }), 412);
});
await step("branches, with a slash in the name", async () => {
  for (const branch of ["experiment", "feature/x"]) {
    await createBranch({ repo, branch, ...credentials });
    await refuses(() => createBranch({ repo, branch, ...credentials }), 409);
    await createBranch({ repo, branch, overwrite: true, ...credentials });
    await uploadFile({ repo, branch, ...credentials, file: { path: "only here.txt", content: new Blob([branch]) } });
    equal(await text("only%20here.txt", { revision: branch }), branch);
    equal(await fileExists({ repo, path: "only%20here.txt", ...credentials }), false);
    equal((await files({ revision: branch })).includes("only here.txt"), true);
    await deleteBranch({ repo, branch, ...credentials });
    await refuses(() => deleteBranch({ repo, branch, ...credentials }), 404);
  }
  await createBranch({ repo, branch: "empty", empty: true, ...credentials });
  equal(await files({ revision: "empty" }), []);
  await refuses(() => all(listFiles({ repo, revision: "nowhere", ...credentials })), 404);
});
await step("pathsInfo", async () => {
  const found = await pathsInfo({ repo, paths: ["big.bin", "data", "none"], expand: true, ...credentials });
  equal(found.map((p) => [p.path, p.type]), [["big.bin", "file"], ["data", "directory"]]);
  equal(found[0].lfs.oid, sha256(big));
  equal(found[0].lastCommit.title, "Large");
});
await step("info and lists", async () => {
  const info = await (type === "dataset" ? datasetInfo : modelInfo)({ name, ...credentials, additionalFields: ["sha", "author"] });
  equal([info.name, info.private, info.author], [name, true, owner]);
  equal(/^[0-9a-f]{40}$/.test(info.sha), true, "sha");
  const list = type === "dataset" ? listDatasets : listModels;
  const found = await all(list({ search: { owner, query: name.split("/")[1] }, ...credentials }));
  equal(found.map((item) => item.name), [name]);
});
await step("strangers do not see a private repository", async () => {
  await refuses(() => all(listFiles({ repo, hubUrl })), 401);
  await refuses(() => downloadFile({ repo, path: "README.md", hubUrl }), 401);
  equal((await all((type === "dataset" ? listDatasets : listModels)({ hubUrl }))).map((item) => item.name).includes(name), false);
});
await step("a model is no dataset", async () => {
  await refuses(() => all(listFiles({ repo: { type: type === "dataset" ? "model" : "dataset", name }, ...credentials })), 404);
});
if (process.env.KEEP) {
  console.log(`repository ${name}`);
} else {
  await step("deleteRepo", async () => {
    await deleteRepo({ repo, ...credentials });
    equal(await repoExists({ repo, ...credentials }), false);
  });
}
process.exit(failed ? 1 : 0);
