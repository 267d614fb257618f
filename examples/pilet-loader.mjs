// Loads pilets in a browser: verifies each pilet, runs the valid ones, and reports why it rejected the
// others. Copy this file: it has no dependencies. docs/guides/frontends/verify-pilets.md explains it. The
// page needs `blob:` in the `script-src` of its Content-Security-Policy, because the verified bytes are
// executed as a blob.
const [maxMs, maxUnpackedBytes] = [30_000, 64 * 1024 * 1024]

/**
 * `feed` is the address of the feed. `keys` is the trust anchor `window.__SVC__.config.pilet_signing_keys` (key id to
 * base64 public key). `api` is passed to the `setup` function of each pilet. `project` is the id of the project that
 * pilets must belong to. With `requireStatements`, a pilet without a statement is rejected too.
 * Returns `{ name, version, loaded: true }` or `{ name, version, refused: reason }` for each pilet of the feed.
 */
export async function loadPilets(feed, keys, api = {}, { project, requireStatements = false } = {}) {
  const { items } = await (await get(feed, AbortSignal.timeout(maxMs))).json()
  // The pilets are loaded concurrently, so that a pilet that fails or hangs does not stop the others.
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
  const timeout = new Promise((_, reject) => {
    deadline.addEventListener('abort', () => reject(new Error(`loading took longer than ${maxMs / 1000} s`)))
  })
  const loadPromise = fetchVerifiedBytes(item, keys, deadline, expected).then((bytes) =>
    run(bytes, api, deadline),
  )
  await Promise.race([timeout, loadPromise])
}

/** Returns the bytes at `link` if a trusted key has signed them. Throws otherwise. */
export async function fetchVerifiedBytes(item, keys, deadline, expected = {}) {
  const { link, hash, signature, keyId } = item
  if (typeof signature !== 'string' || typeof keyId !== 'string') throw new Error('the pilet is not signed')
  if (!Object.hasOwn(keys, keyId))
    throw new Error(`the pilet is signed with a key that is not trusted: ${keyId}`)
  const bytes = new Uint8Array(await (await get(link, deadline)).arrayBuffer())
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const actualHash = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  if (actualHash !== hash) throw new Error('the bytes do not match the hash in the feed')
  const key = await crypto.subtle.importKey('raw', decodeBase64(keys[keyId]), 'Ed25519', false, ['verify'])
  const isSigned = await crypto.subtle.verify('Ed25519', key, decodeBase64(signature), bytes)
  if (!isSigned) throw new Error('the signature does not match the bytes')
  await verifyStatement(item, key, expected)
  return bytes
}

/**
 * A statement contains the project, name, version and hash of a pilet. Without a statement, an attacker who
 * changes the feed in transit can pass off one signed pilet as another. Only the exact expected text is
 * valid.
 */
async function verifyStatement(item, key, { project, requireStatements }) {
  const { name, version, link, hash, statement, statementSignature } = item
  const hasNoStatement = statement === undefined && statementSignature === undefined
  if (hasNoStatement && requireStatements === true) throw new Error('the pilet has no statement')
  if (hasNoStatement) return
  const content = { svcPiletStatement: 1, project: project ?? link.split('/')[3], name, version, hash }
  const expected = JSON.stringify(content)
  if (statement !== expected) throw new Error('the statement is about another pilet')
  const signature = decodeBase64(statementSignature ?? '')
  const isSigned = await crypto.subtle.verify('Ed25519', key, signature, new TextEncoder().encode(expected))
  if (!isSigned) throw new Error('the statement is not signed with the key of the pilet')
}

/** Returns the JavaScript of a pilet: the bytes themselves, or the entry of an archive created by `npm pack`. */
export async function extractProgram(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  const files = readTar(await gunzip(bytes))
  const manifest = files.get('package/package.json')
  if (manifest === undefined) throw new Error('the package has no package.json')
  const { module, main } = JSON.parse(new TextDecoder().decode(manifest))
  const entry = new URL(module ?? main ?? 'index.js', 'file:///package/').pathname.slice(1)
  const program = files.get(decodeURIComponent(entry))
  if (program === undefined) throw new Error(`the package has no file ${entry}`)
  return program
}

async function run(bytes, api, deadline) {
  const program = await extractProgram(bytes)
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
      throw new Error(`the package unpacks to more than ${maxUnpackedBytes} bytes`)
    }
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

/**
 * Returns the files of a tar archive by name. Each file has a header of 512 bytes and is padded to a multiple
 * of 512 bytes.
 */
function readTar(tar) {
  const readText = (from, to) => new TextDecoder().decode(tar.subarray(from, to)).split('\0', 1)[0]
  const files = new Map()
  for (let offset = 0; offset + 512 <= tar.length && tar[offset] !== 0;) {
    const size = Number.parseInt(readText(offset + 124, offset + 136), 8)
    const [kind, prefix] = [tar[offset + 156], readText(offset + 345, offset + 500)]
    const [start, end] = [offset + 512, offset + 512 + size]
    if (!(size >= 0 && end <= tar.length)) throw new Error('the package is not a complete tar archive')
    const name = readText(offset, offset + 100)
    if (kind === 0 || kind === 0x30)
      files.set(prefix === '' ? name : `${prefix}/${name}`, tar.subarray(start, end))
    offset = start + 512 * Math.ceil(size / 512)
  }
  return files
}

const decodeBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
