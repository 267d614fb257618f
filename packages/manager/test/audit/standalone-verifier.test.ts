// Tests examples/verify-audit-export.mjs, which shares no code with the service. It accepts complete exports
// and detects every modification.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AuditEntry, hashEntry } from '../../src/platform/audit/entry.ts'
import { readSealedHeads } from '../../src/platform/audit/sealed-heads.ts'
import { createSigningKey } from '../../src/platform/secrets/keys.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { endLine, exportLines } from '../kit/audit-export.ts'
import { random } from '../kit/tampering.ts'
import { appendRows, checkpointKey, sealAll } from '../kit/trail.ts'

type Verify = (
  chunks: Iterable<Buffer>,
  checkpoint: string,
  options?: { key?: string; part?: boolean },
) => Promise<{ code: number; text: string }>
const script = new URL('../../../../examples/verify-audit-export.mjs', import.meta.url).pathname
const chains = ['01a1dce9-d14b-710f-8362-6ebef3620ecb', '01a1dce9-d14b-710f-8362-6ebef3620ecc'] as const
const folder = mkdtempSync(`${tmpdir()}/export-`)

let service: TestApp
let verifyExport: Verify
let lines: string[]
let ofProject: string[]
let heads: string
let bare: string
beforeAll(async () => {
  ;({ verifyExport } = (await import(script)) as { verifyExport: Verify })
  service = await startTestApp()
  await appendRows(service, chains[0], 12)
  await appendRows(service, null, 3)
  await sealAll(service)
  await appendRows(service, chains[1], 9)
  const [checkpoint] = await sealAll(service)
  bare = JSON.stringify(checkpoint)
  heads = JSON.stringify(await readSealedHeads(service.world.database.db, checkpointKey))
  // Add rows of the first format, and rows that no checkpoint covers.
  await addFirstForm()
  await appendRows(service, chains[0], 4)
  lines = await exportLines(service)
  ofProject = await exportLines(service, { project_id: chains[0] })
})
afterAll(() => service.close())

async function addFirstForm(): Promise<void> {
  const { rows } = await service.sql.query<Record<string, never>>(
    'select * from audit_logs where chain_id = $1 order by seq desc limit 1',
    [chains[1]],
  )
  const last = rows[0] as unknown as { seq: string; hash: Buffer }
  const entry: AuditEntry = {
    form: 1,
    chainId: chains[1],
    seq: Number(last.seq) + 1,
    id: '01a1dce9-d14b-710f-8362-6ebef3620eee',
    entityType: 'project',
    entityId: 'x',
    action: 'create',
    description: 'first form',
    metadata: {},
    changes: { a_b: { before: null, after: 1.5e-7 } },
    principal: null,
    userId: '01a1dce9-d14b-710f-8362-6ebef3620eef',
    ipAddress: '::1',
    userAgent: 'x',
    createdAt: '2026-01-02T03:04:05.006Z',
  }
  const hash = hashEntry(entry, last.hash)
  await service.sql.query(
    `insert into audit_logs (chain_id, seq, id, entity_type, entity_id, action, description, metadata, changes, form,
       user_id, ip_address, user_agent, created_at, prev_hash, hash)
     values ($1, $2, $3, 'project', 'x', 'create', 'first form', '{}', $4, 1, $5, '::1', 'x', $6, $7, $8)`,
    [
      entry.chainId,
      entry.seq,
      entry.id,
      JSON.stringify(entry.changes),
      entry.userId,
      entry.createdAt,
      last.hash,
      hash,
    ],
  )
  await service.sql.query('update audit_chains set seq = $2, hash = $3 where chain_id = $1', [
    chains[1],
    entry.seq,
    hash,
  ])
}

const bytesOf = (some: readonly string[]): Buffer => Buffer.from(some.map((line) => `${line}\n`).join(''))
const check = (some: readonly string[] | Buffer, checkpoint = heads, options = {}) =>
  verifyExport([Buffer.isBuffer(some) ? some : bytesOf(some)], checkpoint, options)
const ownKey = () => checkpointKey.publicKey.toString('base64')

describe('an export that nobody touched', () => {
  test('is whole, with the file of heads or with a checkpoint, of all chains or of one', async () => {
    const { keyId } = checkpointKey
    expect((await check(lines)).text).toBe(
      `ok: 30 rows of 3 chains, 3 sealed heads, key ${keyId}; no row is missing`,
    )
    expect((await check(lines, bare)).text).toBe(
      `ok: 30 rows of 3 chains, 1 sealed head, key ${keyId}; no row is missing`,
    )
    expect((await check(ofProject, heads, { key: ownKey() })).text).toBe(
      `ok: 16 rows of 1 chain, 1 sealed head, key ${keyId}; no row of project ${chains[0]} is missing`,
    )
    const empty = await exportLines(service, { project_id: '01a1dce9-d14b-710f-8362-6ebef3620000' })
    expect((await check(empty)).text).toMatch(/^ok: 0 rows of 0 chains/)
  })

  test.each([
    [{ action: 'create' }, 'rows may be missing, because of action'],
    [{ limit: '5' }, 'rows may be missing, because of next_cursor'],
    [
      { project_id: chains[0], limit: '5', action: 'update' },
      `rows of project ${chains[0]} may be missing, because of action, next_cursor`,
    ],
  ])('is no whole one when it is a part: %j', async (filters, why) => {
    const part = await exportLines(service, filters)
    const found = await check(part)
    expect([found.code, found.text]).toEqual([2, expect.stringMatching(/^PART: \d+ rows? of 1 chain, /)])
    expect(found.text.endsWith(`; ${why}`)).toBe(true)
    const asked = await check(part, heads, { part: true })
    expect(asked).toEqual({ code: 0, text: found.text.replace('PART', 'ok (part)') })
    const changed = part.with(0, (part[0] ?? '').replace('change', 'chance').replace('first', 'fast'))
    expect((await check(changed, heads, { part: true })).code).toBe(1)
  })

  test('a page that goes on after another is a part too, even the last one', async () => {
    const { export: first } = JSON.parse((await exportLines(service, { limit: '20' })).at(-1) ?? '') as {
      export: { next_cursor: string }
    }
    const rest = await exportLines(service, { cursor: first.next_cursor })
    expect(await check(rest)).toMatchObject({ code: 2, text: expect.stringMatching(/of is_continued$/) })
  })

  test('is read in chunks of any size', async () => {
    const bytes = bytesOf(lines)
    for (const size of [1, 7, 1_000]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      )
      expect((await verifyExport(chunks, heads)).code).toBe(0)
    }
  })
})

async function runScript(path: string, ...args: string[]): Promise<[number, string, string]> {
  try {
    return [0, (await promisify(execFile)(process.execPath, [path, ...args])).stdout, '']
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return [code, stdout, stderr]
  }
}

test('runs as a process: exit status, one line, and help', async () => {
  const file = `${folder}/export.ndjson`
  writeFileSync(file, bytesOf(lines))
  writeFileSync(`${folder}/heads.json`, heads)
  const run = async (...args: string[]): Promise<[number, string]> => {
    const [code, stdout] = await runScript(script, ...args)
    return [code, stdout]
  }
  expect(await run(file, `${folder}/heads.json`)).toEqual([0, expect.stringMatching(/^ok: 30 rows/)])
  expect(await run(file, `${folder}/heads.json`, '--key', ownKey())).toEqual([
    0,
    expect.stringMatching(/^ok: /),
  ])
  const other = createSigningKey(Buffer.alloc(32, 9), 'audit-checkpoint').publicKey.toString('base64')
  expect(await run(file, `${folder}/heads.json`, '--key', other)).toEqual([
    1,
    'BROKEN line 31: the checkpoint was not signed with the trusted key\n',
  ])
  writeFileSync(file, bytesOf(lines.toSpliced(4, 1)))
  expect(await run(file, `${folder}/heads.json`)).toEqual([1, expect.stringMatching(/^BROKEN line \d+: /)])
  expect(await run('--help')).toEqual([0, expect.stringContaining('Usage: ')])
  expect(await run()).toEqual([1, expect.stringContaining('Usage: ')])
  expect(readFileSync(script, 'utf8').split('\n').length).toBeLessThanOrEqual(150)
})

test('runs from any path, and does not pass for less than it was told', async () => {
  const [file, part] = [`${folder}/whole.ndjson`, `${folder}/part.ndjson`]
  writeFileSync(file, bytesOf(lines))
  writeFileSync(part, bytesOf(await exportLines(service, { action: 'create' })))
  writeFileSync(`${folder}/heads.json`, heads)
  for (const name of ['a#b', 'a?b %41 ä']) {
    mkdirSync(`${folder}/${name}`)
    const copy = `${folder}/${name}/verify.mjs`
    copyFileSync(script, copy)
    symlinkSync(copy, `${folder}/${name}/link.mjs`)
    for (const path of [copy, `${folder}/${name}/link.mjs`])
      expect(await runScript(path, file, `${folder}/heads.json`)).toEqual([
        0,
        expect.stringMatching(/^ok: 30 rows/),
        '',
      ])
  }
  expect(await runScript(script, part, `${folder}/heads.json`)).toEqual([
    2,
    expect.stringMatching(/^PART: 1 row of 1 chain, /),
    '',
  ])
  expect(await runScript(script, part, `${folder}/heads.json`, '--part')).toEqual([
    0,
    expect.stringMatching(/^ok \(part\): 1 row of 1 chain, /),
    '',
  ])
  for (const args of [['--key'], ['--key', '--part'], ['--kye', ownKey()]]) {
    const [code, stdout, stderr] = await runScript(script, file, `${folder}/heads.json`, ...args)
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(args[0] ?? '')])
  }
  expect(await runScript(script, file, `${folder}/heads.json`, '--key', '')).toEqual([
    1,
    expect.stringMatching(/^BROKEN/),
    '',
  ])
})

/** Signs modified rows. An attacker with the export key can do this but cannot replace earlier checkpoints. */
const signedAnew = (rows: readonly string[], from = lines): string[] => {
  const { export: end } = JSON.parse(from.at(-1) ?? '') as { export: { filters: object; chain: object } }
  const chain = { ...end.chain, entries: rows.length }
  return [...rows, endLine(rows, { filters: end.filters, next_cursor: null, is_continued: false, chain })]
}

test('what is signed anew after a change is found by rows, links and the checkpoint, at its line', async () => {
  const rows = lines.slice(0, -1)
  expect((await check(signedAnew(rows))).code).toBe(0)
  const found = async (some: string[]): Promise<string> => (await check(signedAnew(some))).text
  expect(await found(rows.with(6, (rows[6] ?? '').replace('change', 'chance')))).toMatch(
    /^BROKEN line 7: row 3 .* was changed/,
  )
  expect(await found(rows.toSpliced(6, 1))).toMatch(/^BROKEN line 7: row 3 of chain .* is missing/)
  expect(await found(rows.toSpliced(4, 16))).toMatch(
    /^BROKEN line 15: rows of chain .* are missing: the checkpoint sealed/,
  )
  expect(await found(rewritten(rows, 6))).toMatch(
    /^BROKEN line 16: row 12 of chain .* differs from the row that the checkpoint sealed/,
  )
})

test('a row has the fields of a row, each once, even when all is signed anew', async () => {
  const rows = lines.slice(0, -1)
  const found = (change: (line: string) => string) => check(signedAnew(rows.with(6, change(rows[6] ?? ''))))
  const twice = /^BROKEN line 7: row 3 of chain .* contains a field twice$/
  // A parser that uses the first of two values would return data that was not hashed.
  for (const [before, after] of [
    ['"description":', '"description":"nothing","description":'],
    ['"description":', '"description" : "nothing","description":'],
    ['"description":', '"d\\u0065scription":"\\":","description":'],
    ['"before"', '"before": "x", "before"'],
    ['{"chain_id":', '{"hash":"x","chain_id":'],
  ] as const) {
    const { code, text } = await found((line) => line.replace(before, after))
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(before.startsWith('{') ? /does not have the expected fields$/ : twice),
    ])
  }
  for (const change of [
    (line: string) => line.replace('{"chain_id":', '{"chainId":"x","chain_id":'),
    (line: string) => line.replace(/,"user_id":null/, ''),
    (line: string) => line.replace(/^\{("chain_id":[^,]*),("seq":\d+),/, '{$2,$1,'),
  ]) {
    const { text } = await found(change)
    expect(text).toBe('BROKEN line 7: a row does not have the expected fields')
  }
  // A string that only resembles a field name does not count as a field.
  const quoted = await check(signedAnew(rewritten(rows, 18, '"a":"b\\":{"')))
  expect(quoted).toMatchObject({ code: 0 })
})

/** Changes a row and recomputes its hash and all later hashes in its chain. */
function rewritten(rows: readonly string[], at: number, description = 'forged'): string[] {
  const made = rows.map((line) => JSON.parse(line) as Record<string, never>)
  const chain = made[at]?.['chain_id']
  let previous: string | null = null
  return made.map((row, index) => {
    if (row['chain_id'] !== chain || index < at) return rows[index] ?? ''
    const next: Record<string, unknown> = { ...row, prev_hash: previous ?? row['prev_hash'] }
    if (index === at) next['description'] = description
    const principal = next['form'] === 1 ? null : { type: next['principal_type'], id: next['principal_id'] }
    const entry = {
      ...next,
      principal,
      chainId: chain,
      entityType: next['entity_type'],
      entityId: next['entity_id'],
      userId: next['user_id'],
      ipAddress: next['ip_address'],
      userAgent: next['user_agent'],
      createdAt: next['created_at'],
    } as unknown as AuditEntry
    previous = hashEntry(entry, Buffer.from(next['prev_hash'] as string, 'hex')).toString('hex')
    return JSON.stringify({ ...next, hash: previous })
  })
}

const withLast = (some: readonly string[], line: string): string[] => [...some.slice(0, -1), line]
type Pick = (below: number) => number
/** Kinds of tampering. Each function returns bytes that differ from its input. */
const ways: Record<string, (some: string[], pick: Pick) => string[] | Buffer> = {
  field: (some, pick) => {
    const at = pick(some.length - 1)
    const row = JSON.parse(some[at] ?? '') as Record<string, unknown>
    const names = Object.keys(row)
    const name = names[pick(names.length)] as string
    const value = row[name]
    const other = typeof value === 'number' ? value + 1 : typeof value === 'string' ? `${value}x` : { x: 1 }
    return some.with(at, JSON.stringify({ ...row, [name]: other }))
  },
  'added field': (some, pick) => {
    const at = pick(some.length - 1)
    return some.with(at, JSON.stringify({ ...(JSON.parse(some[at] ?? '') as object), [`x${pick(99)}`]: 1 }))
  },
  byte: (some, pick) => {
    const bytes = bytesOf(some)
    // Skip the final line break, which carries no information.
    const at = pick(bytes.length - 1)
    bytes[at] = (bytes[at] ?? 0) ^ (1 + pick(255))
    return bytes
  },
  drop: (some, pick) => some.toSpliced(pick(some.length), 1),
  duplicate: (some, pick) => {
    const at = pick(some.length)
    return some.toSpliced(at, 0, some[at] ?? '')
  },
  swap: (some, pick) => {
    const [a, step] = [pick(some.length), 1 + pick(some.length - 1)]
    const b = (a + step) % some.length
    return some.with(a, some[b] ?? '').with(b, some[a] ?? '')
  },
  insert: (some, pick) => {
    const source = some[pick(some.length - 1)] ?? ''
    return some.toSpliced(pick(some.length + 1), 0, source.replace('change', 'chance'))
  },
  truncate: (some, pick) => some.slice(0, pick(some.length)),
  'truncate bytes': (some, pick) => {
    const bytes = bytesOf(some)
    return bytes.subarray(0, pick(bytes.length - 1))
  },
  'truncate before the end': (some, pick) => [...some.slice(0, pick(some.length - 1)), some.at(-1) ?? ''],
  rewrite: (some, pick) => [...rewritten(some.slice(0, -1), pick(some.length - 1)), some.at(-1) ?? ''],
  // The trail was signed again with the current key. Only the stored checkpoint, which covers the first rows, reveals
  // the change.
  'rewrite and sign': (some, pick) => signedAnew(rewritten(some.slice(0, -1), pick(3)), some),
  'truncate and sign': (some, pick) => signedAnew(some.slice(0, 1 + pick(2)), some),
  'last line': (some, pick) => {
    const { export: end } = JSON.parse(some.at(-1) ?? '') as { export: Record<string, unknown> }
    const names = Object.keys(end)
    const name = names[pick(names.length)] as string
    const value = end[name]
    const other =
      typeof value === 'number'
        ? value + 1
        : typeof value === 'string'
          ? value.replace(/[a-zA-Z0-9]/, '_')
          : { x: pick(9) }
    return withLast(some, JSON.stringify({ export: { ...end, [name]: other } }))
  },
  'last line written otherwise': (some) => withLast(some, (some.at(-1) ?? '').replace('{"', '{ "')),
  'other last line': (some) => withLast(some, (some === lines ? ofProject : lines).at(-1) ?? ''),
}

test('[audit-append.chain-status] 1,000 random tamperings with an export are all found, and none where there is none', async () => {
  const pick = random(20_261_117)
  const names = Object.keys(ways)
  const missed: string[] = []
  let alarms = 0
  for (let i = 0; i < 1_000; i++) {
    const some = i % 3 === 0 ? ofProject : lines
    const name = names[i % names.length] as string
    const changed = ways[name]?.(some, pick) ?? []
    const { code, text } = await check(changed)
    if (code !== 1 || !/^BROKEN line \d+: ./.test(text)) missed.push(`${i} ${name}: ${text}`)
    if ((await check(some)).code !== 0) alarms++
  }
  process.stdout.write(`export tamper detected=${1_000 - missed.length}/1000 false_alarms=${alarms}\n`)
  expect([missed, alarms]).toEqual([[], 0])
}, 120_000)

test('a checkpoint file that was changed is of no use', async () => {
  const file = JSON.parse(heads) as { heads: { seq: number }[]; signature: string; publicKey: string }
  const edits = [
    { ...file, heads: file.heads.slice(1) },
    { ...file, signature: createHash('sha512').update('x').digest('base64') },
    { ...file, publicKey: Buffer.alloc(32, 1).toString('base64') },
    { ...file, heads: 7 },
    {},
  ]
  for (const edit of edits) expect((await check(lines, JSON.stringify(edit))).code).toBe(1)
})
