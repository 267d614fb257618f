#!/usr/bin/env node
// Verifies an audit export (NDJSON) without the service: every row, the links between rows, the signature, and the rows
// that a signed checkpoint names. One file for Node 20 or newer, without dependencies. It reads line by line.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { createReadStream, readFileSync, realpathSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const help = `Usage: node verify-audit-export.mjs <export.ndjson> <checkpoint.json> [--key <base64 public key>] [--part]

Verifies that an audit export is intact, and compares it with an older checkpoint that was stored elsewhere: a file from
\`manager audit checkpoint export\`, or one checkpoint from a log or a bucket. --key is the trusted key from
\`manager audit key\` (default: the key in the checkpoint). Prints "ok: …" and exits with 0, or "BROKEN line N: …" and
exits with 1. For a partial export, prints "PART: …" and exits with 2, or with --part "ok (part): …" and 0.`

function need(condition, message) {
  if (condition !== true) throw new Error(message)
}
const sha256 = (data) => createHash('sha256').update(data).digest()
const getKeyId = (publicKey) => sha256(Buffer.from(publicKey, 'base64')).toString('hex').slice(0, 16)
function isSigned(hash, signature, publicKey) {
  const x = Buffer.from(publicKey, 'base64').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, hash, key, Buffer.from(signature, 'base64'))
}
/** Canonical JSON according to RFC 8785. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const names = Object.keys(value).sort((a, b) => (a < b ? -1 : 1))
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`
}
/** Yields the lines as bytes, each with its newline: the digest covers exactly these bytes. */
async function* splitLines(chunks) {
  let rest = Buffer.alloc(0)
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk])
    for (let end; (end = rest.indexOf(10) + 1) > 0; rest = rest.subarray(end)) yield rest.subarray(0, end)
  }
  if (rest.length > 0) yield rest
}

const columns = `chain_id,seq,id,entity_type,entity_id,action,description,metadata,changes,form,principal_type,\
principal_id,user_id,ip_address,user_agent,created_at,prev_hash,hash`
/** Counts the field names in a JSON text, which are the strings before a colon. */
const countNames = (text) => text.match(/"(?:[^"\\]|\\.)*"(?:\s*:)?/g).filter((x) => x.endsWith(':')).length
const toCamel = (name) => name.replace(/_([a-z])/g, (_match, letter) => letter.toUpperCase())
/** Returns the hash that a row must have. It covers all other fields, in camelCase. Form 1 has no principal. */
function getHash({ form, principal_type: type, principal_id: id, ...fields }) {
  const isFirst = form === 1 && type === null && id === null
  need(isFirst || (form === 2 && type !== null && id !== null), 'the row has an invalid structure')
  const content = Object.fromEntries(Object.entries(fields).map(([name, value]) => [toCamel(name), value]))
  delete content.hash
  return sha256(canonical(isFirst ? content : { ...content, form, principal: { type, id } })).toString('hex')
}

function checkRow(row, text, state) {
  const [{ chain_id: chain, seq, hash }, name] = [row, `row ${row.seq} of chain ${row.chain_id}`]
  need(Object.keys(row).join() === columns, 'a row does not have the expected fields')
  // If a name occurs twice, another reader may use the value that was not hashed.
  need(countNames(text) === countNames(JSON.stringify(row)), `${name} contains a field twice`)
  need(getHash(row) === hash, `${name} was changed`)
  const isSame = state.last?.chain_id === chain
  const before = isSame ? state.last : { seq: 0, hash: '0'.repeat(64) }
  const isAfter = isSame ? seq > before.seq : seq > 0 && chain > (state.last?.chain_id ?? '')
  need(isAfter, `${name} is out of order`)
  const isNext = seq === before.seq + 1
  need(!isNext || row.prev_hash === before.hash, `${name} does not follow its predecessor`)
  // A gap is an error unless the filters on the last line explain the gap.
  if (!isNext) state.gap ??= { line: state.line, text: `row ${before.seq + 1} of chain ${chain} is missing` }
  const head = state.heads.get(chain)
  need(head?.seq !== seq || head.hash === hash, `${name} differs from the row that the checkpoint sealed`)
  if (head?.seq === seq && state.heads.delete(chain) === true) state.sealed++
  Object.assign(state, { last: row, count: state.count + 1, chains: state.chains + (isSame ? 0 : 1) })
}

/** Checks the last line. Returns the reasons why the export is partial, and the project that it covers. */
function checkEnd(end, state, trusted) {
  const { signature, keyId, publicKey, filters, chain, ...signed } = end
  need(getKeyId(publicKey) === keyId && publicKey === trusted, 'the signing key is not the trusted key')
  const content = { ...signed, keyId, publicKey, filters, chain }
  need(isSigned(sha256(canonical(content)), signature, publicKey), 'the signature of the export is invalid')
  need(signed.digest === state.digest, 'the bytes before this line do not match the signed digest')
  need(signed.count === state.count, `expected ${format(signed.count, 'row')}, found ${state.count}`)
  need(chain.status !== 'broken', `the service reported a broken trail: ${chain.reason}`)
  const { project_id: project = null, ...others } = filters
  const isOwn = project === null || (state.chains < 2 && (state.last?.chain_id ?? project) === project)
  need(isOwn, 'the export contains rows of another project')
  const pages = ['is_continued', 'next_cursor'].filter((name) => ![false, null].includes(signed[name]))
  const part = [...Object.keys(others), ...pages]
  const found = { part: part.join(', '), of: project === null ? '' : ` of project ${project}` }
  if (part.length > 0) return found
  state.line = state.gap?.line ?? state.line
  need(state.gap === null, state.gap?.text)
  need(chain.entries <= state.count, `rows are missing: the trail had ${format(chain.entries, 'row')}`)
  for (const [id, { seq }] of state.heads)
    need(project !== null && id !== project, `rows of chain ${id} are missing: the checkpoint sealed ${seq}`)
  return found
}
function checkCheckpoint({ hash, signature, ...content }, publicKey) {
  need(sha256(canonical(content)).toString('hex') === hash, 'the checkpoint was changed')
  need(getKeyId(publicKey) === content.keyId, 'the checkpoint was not signed with the trusted key')
  need(isSigned(Buffer.from(hash, 'hex'), signature, publicKey), 'the signature of the checkpoint is invalid')
}
const format = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`
/** Verifies the chunks of an export. Returns the message and the exit status. */
export async function verifyExport(chunks, checkpointText, { key, part: isPartAllowed } = {}) {
  const state = { line: 0, count: 0, chains: 0, sealed: 0, last: null, gap: null, heads: new Map() }
  let [digest, end] = [createHash('sha256'), null]
  try {
    const checkpoint = JSON.parse(checkpointText)
    for (const { chainId, seq, hash } of checkpoint.heads) state.heads.set(chainId, { seq, hash })
    for await (const line of splitLines(chunks)) {
      state.line++
      need(end === null, 'there is content after the last line of the export')
      const [text, row] = [line.toString(), JSON.parse(line)]
      if (row.export === undefined) {
        digest.update(line)
        checkRow(row, text, state)
        continue
      }
      need(JSON.stringify(row) === text.trimEnd(), 'the last line was modified')
      state.digest = digest.digest('hex')
      // A checkpoint that was read from a log contains only the id of its key.
      const trusted = key ?? checkpoint.publicKey ?? row.export.publicKey
      checkCheckpoint(checkpoint, trusted)
      end = checkEnd(row.export, state, trusted)
    }
    need(end !== null, 'the signed last line is missing: the export is incomplete')
    const text = `${format(state.count, 'row')} of ${format(state.chains, 'chain')}, ${format(state.sealed, 'sealed head')}, key ${checkpoint.keyId};`
    if (end.part === '') return { code: 0, text: `ok: ${text} no row${end.of} is missing` }
    const [code, word] = isPartAllowed === true ? [0, 'ok (part)'] : [2, 'PART']
    return { code, text: `${word}: ${text} rows${end.of} may be missing, because of ${end.part}` }
  } catch (error) {
    if (error.syscall !== undefined) throw error
    return { code: 1, text: `BROKEN line ${state.line}: ${error.message}` }
  }
}

if (import.meta.url === pathToFileURL(realpathSync(process.argv[1] ?? '.')).href) {
  const options = { key: { type: 'string' }, part: { type: 'boolean' }, help: { type: 'boolean' } }
  const { values, positionals: files } = parseArgs({ options, allowPositionals: true })
  const { code, text } =
    files.length === 2
      ? await verifyExport(createReadStream(files[0]), readFileSync(files[1], 'utf8'), values)
      : { code: values.help === true ? 0 : 1, text: help }
  process.stdout.write(`${text}\n`)
  process.exitCode = code
}
