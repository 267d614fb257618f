// Loads pilets in a browser: verifies each one, runs the valid ones, and reports why it rejected the others. One file
// without dependencies, to be copied. docs/guides/frontends/verify-pilets.md explains it. The page needs `blob:` in
// `script-src` of its Content-Security-Policy, because exactly the verified bytes are executed.
const [maxMs, maxUnpackedBytes] = [30_000, 64 * 1024 * 1024]

/**
 * `feed` is the address of the feed. `keys` is the trust anchor `window.__SVC__.config.pilet_signing_keys` (key id to
 * base64 public key). `api` is passed to the `setup` function of each pilet. `project` is the id of the project that
 * pilets must belong to. With `requireStatements`, a pilet without a statement is rejected too.
 * Returns `{ name, version, loaded: true }` or `{ name, version, refused: reason }` for each pilet of the feed.
 */
export async function loadPilets(feed, keys, api = {}, { project, requireStatements = false } = {}) {
  const { items } = await (await get(feed, AbortSignal.timeout(maxMs))).json()
  // Concurrently, so that a pilet that fails or hangs does not stop the others.
  return Promise.all(
    items.map(async (item) => {
      const { name, version } = item
      try {
        await load(item, { keys, project, requireStatements }, api)
        return { name, version, loaded: true }
      } catch (error) {
        return { name, version, refused: error?.message ?? String(error) }
      }
    }),
  )
}

async function load(item, { keys, ...expected }, api) {
  const deadline = AbortSignal.timeout(maxMs)
  const late = new Promise((_, reject) => {
    deadline.addEventListener('abort', () => reject(new Error(`it took longer than ${maxMs / 1000} s`)))
  })
  const loaded = verifiedBytes(item, keys, deadline, expected).then((bytes) => run(bytes, api, deadline))
  await Promise.race([late, loaded])
}

/** Returns the bytes behind `link` if a trusted key has signed them. Throws otherwise. */
export async function verifiedBytes(item, keys, deadline, expected = {}) {
  const { link, hash, signature, keyId } = item
  if (typeof signature !== 'string' || typeof keyId !== 'string') throw new Error('it is not signed')
  if (!Object.hasOwn(keys, keyId)) throw new Error(`it is signed with a key that is not trusted: ${keyId}`)
  const bytes = new Uint8Array(await (await get(link, deadline)).arrayBuffer())
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const found = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  if (found !== hash) throw new Error('its bytes do not match the hash in the feed')
  const key = await crypto.subtle.importKey('raw', fromBase64(keys[keyId]), 'Ed25519', false, ['verify'])
  const isSigned = await crypto.subtle.verify('Ed25519', key, fromBase64(signature), bytes)
  if (!isSigned) throw new Error('its signature does not match its bytes')
  await verifyStatement(item, key, expected)
  return bytes
}

/**
 * A statement names the project, name and version of the bytes. Without it, an attacker who changes the feed in transit
 * can pass off any signed pilet as another. The text is rebuilt instead of parsed, so only the exact text is valid.
 */
async function verifyStatement(item, key, { project, requireStatements }) {
  const { name, version, link, hash, statement, statementSignature } = item
  const hasNone = statement === undefined && statementSignature === undefined
  if (hasNone && requireStatements === true) throw new Error('it has no statement')
  if (hasNone) return
  const about = { svcPiletStatement: 1, project: project ?? link.split('/')[3], name, version, hash }
  const expected = JSON.stringify(about)
  if (statement !== expected) throw new Error('its statement is about another pilet')
  const signature = fromBase64(statementSignature ?? '')
  const isSigned = await crypto.subtle.verify('Ed25519', key, signature, new TextEncoder().encode(expected))
  if (!isSigned) throw new Error('its statement is not signed with its key')
}

/** Returns the JavaScript of a pilet: the bytes themselves, or the entry of an archive created by `npm pack`. */
export async function programOf(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  const files = readTar(await gunzip(bytes))
  const manifest = files.get('package/package.json')
  if (manifest === undefined) throw new Error('its package has no package.json')
  const { module, main } = JSON.parse(new TextDecoder().decode(manifest))
  const entry = new URL(module ?? main ?? 'index.js', 'file:///package/').pathname.slice(1)
  const program = files.get(decodeURIComponent(entry))
  if (program === undefined) throw new Error(`its package has no file ${entry}`)
  return program
}

async function run(bytes, api, deadline) {
  const program = await programOf(bytes)
  deadline.throwIfAborted()
  const address = URL.createObjectURL(new Blob([program], { type: 'text/javascript' }))
  try {
    const { setup } = await import(address)
    await setup?.(api)
  } finally {
    URL.revokeObjectURL(address)
  }
}

async function get(address, signal) {
  const response = await fetch(address, { signal })
  if (response.status !== 200) throw new Error(`${address} returned ${response.status}`)
  return response
}

async function gunzip(bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')).getReader()
  const parts = []
  let size = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value)
    size += part.value.length
    if (size > maxUnpackedBytes) {
      await reader.cancel()
      throw new Error(`it unpacks to more than ${maxUnpackedBytes} bytes`)
    }
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

/** Returns the files of a tar archive by name. Each file has a header of 512 bytes and is padded to 512 bytes. */
function readTar(tar) {
  const text = (from, to) => new TextDecoder().decode(tar.subarray(from, to)).split('\0', 1)[0]
  const files = new Map()
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0;) {
    const size = Number.parseInt(text(at + 124, at + 136), 8)
    const [kind, prefix] = [tar[at + 156], text(at + 345, at + 500)]
    const [start, end] = [at + 512, at + 512 + size]
    if (!(size >= 0 && end <= tar.length)) throw new Error('its package is not a complete tar archive')
    const name = text(at, at + 100)
    if (kind === 0 || kind === 0x30)
      files.set(prefix === '' ? name : `${prefix}/${name}`, tar.subarray(start, end))
    at = start + 512 * Math.ceil(size / 512)
  }
  return files
}

const fromBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
