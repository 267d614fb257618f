// Tests the export of signed heads to files, and verification that continues from them.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readVerdict, runVerification } from '../../src/platform/audit/verify-incremental.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { runManager } from '../kit/commands.ts'
import { appendRows, checkpointKey, macKey, sealAll, tamper } from '../kit/trail.ts'

const [first, second] = ['01a1dce9-d14b-710f-8362-6ebef3620ecb', '01a1dce9-d14b-710f-8362-6ebef3620ecc']
const folder = mkdtempSync(`${tmpdir()}/heads-`)
const heads = `${folder}/heads.json`
let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
})
afterAll(() => service.close())
const manager = (...args: string[]) => runManager(['audit', ...args], testEnv(service.database.url))

test('there is nothing to export of an empty trail', async () => {
  const { code, stderr } = await manager('checkpoint', 'export')
  expect([code, stderr]).toEqual([1, expect.stringContaining('the audit trail has no rows yet')])
})

describe('an export', () => {
  let ofOneRow = ''
  beforeAll(async () => {
    await appendRows(service, first, 1)
    ofOneRow = (await manager('verify')).stdout
    await appendRows(service, first, 19)
    await sealAll(service)
    await appendRows(service, second, 10)
  })

  test('of one row in one chain is told in the singular', () => {
    expect(ofOneRow).toBe('audit trail ok: 1 row in 1 chain, 0 checkpoints\n')
  })

  test('seals what is not sealed, names the heads of all chains, and replaces no file', async () => {
    expect(await manager('checkpoint', 'export', '--out', heads)).toMatchObject({ code: 0, stdout: '' })
    const file = JSON.parse(readFileSync(heads, 'utf8')) as Record<string, unknown>
    expect(file).toMatchObject({
      kind: 'manager-audit-heads-1',
      checkpoint: { seq: 2 },
      heads: [
        { chainId: first, seq: 20 },
        { chainId: second, seq: 10 },
      ],
      keyId: checkpointKey.keyId,
      publicKey: checkpointKey.publicKey.toString('base64'),
    })
    const signature = Buffer.from(file['signature'] as string, 'base64')
    expect(checkpointKey.verify(Buffer.from(file['hash'] as string, 'hex'), signature)).toBe(true)
    expect((await manager('checkpoint', 'export', '--out', heads)).code).toBe(1)
    expect(JSON.parse((await manager('checkpoint', 'export')).stdout)).toEqual(file)
  })

  test('is where verification goes on: only what is newer is read', async () => {
    await appendRows(service, first, 4)
    const fromFile = await manager('verify', '--since', heads)
    expect([fromFile.code, fromFile.stdout]).toEqual([
      0,
      'audit trail ok: 4 rows since the checkpoint in 2 chains, 0 checkpoints\n',
    ])
    const fromNumber = await manager('verify', '--since', '1')
    expect([fromNumber.code, fromNumber.stdout]).toEqual([
      0,
      'audit trail ok: 14 rows since the checkpoint in 2 chains, 2 checkpoints\n',
    ])
    const unknown = await manager('verify', '--since', '77')
    expect([unknown.code, unknown.stdout]).toEqual([
      1,
      expect.stringContaining('checkpoint 77 does not exist'),
    ])
  })

  test('is compared with checkpoints kept elsewhere only when there are some, and it says how many', async () => {
    const { rows } = await service.sql.query<{ line: string }>(
      `select json_build_object('seq', seq, 'createdAt', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'heads', heads, 'prevHash', encode(prev_hash, 'hex'), 'hash', encode(hash, 'hex'),
         'signature', translate(encode(signature, 'base64'), E'\\n', ''), 'keyId', key_id)::text as line
       from audit_checkpoints order by seq`,
    )
    const [kept, empty] = [mkdtempSync(`${folder}/kept-`), mkdtempSync(`${folder}/empty-`)]
    const compare = async (path: string, ...args: string[]) => {
      const { code, stderr } = await manager('verify', '--checkpoints', path, ...args)
      return [code, stderr]
    }
    const nothing = (path: string) => [
      1,
      expect.stringContaining(`${path} contains no checkpoint to compare`),
    ]
    expect(await compare(empty)).toEqual(nothing(empty))
    writeFileSync(`${empty}/other.log`, '{"level":30,"msg":"no \\"checkpoint\\" here"}\n{"checkpoint":{"se')
    expect(await compare(empty)).toEqual(nothing(empty))
    expect(await compare(`${empty}/other.log`, '--json')).toEqual(nothing(`${empty}/other.log`))
    writeFileSync(`${kept}/1.json`, `${rows[0]?.line}\n`)
    expect(await compare(kept)).toEqual([0, expect.stringContaining('1 of 1 checkpoints in ')])
    expect(await compare(kept, '--since', heads)).toEqual([
      1,
      expect.stringContaining(`all checkpoints in ${kept} are older than --since`),
    ])
    writeFileSync(`${kept}/2.json`, `${rows[1]?.line}\n`)
    expect(await compare(kept)).toEqual([0, expect.stringContaining('2 of 2 checkpoints in ')])
    expect(await compare(kept, '--since', heads)).toEqual([
      0,
      expect.stringContaining(`Compared 1 of 2 checkpoints in ${kept}.`),
    ])
  })

  test.each([
    ['a changed head', (text: string) => text.replace('"seq":20', '"seq":19'), 'the file was changed'],
    [
      'another signature',
      (text: string) => text.replace(/"signature":"..../, '"signature":"AAAA'),
      'the signature is invalid',
    ],
    [
      'another key',
      (text: string) => text.replace(/"keyId":"..../, '"keyId":"beef'),
      'signed with the unknown key',
    ],
    ['something else', () => '{}', '`manager audit checkpoint export` did not write this file'],
  ])('with %s is refused', async (_what, change, message) => {
    const file = `${folder}/${Math.random()}.json`
    writeFileSync(file, change(readFileSync(heads, 'utf8')))
    const { code, stderr } = await manager('verify', '--since', file)
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
  })

  test('shows a trail that was rolled back, which is consistent in itself', async () => {
    await service.sql.query(`begin; set local session_replication_role = replica;
      create table kept as select * from audit_logs where chain_id = '${second}' and seq > 6;
      create table kept_checkpoints as select * from audit_checkpoints where seq > 1;
      create table kept_heads as select * from audit_chains;
      delete from audit_logs where chain_id = '${second}' and seq > 6; delete from audit_checkpoints where seq > 1;
      update audit_chains c set seq = 6, checkpointed_seq = 0, hash = l.hash from audit_logs l
        where c.chain_id = '${second}' and l.chain_id = c.chain_id and l.seq = 6; commit`)
    expect((await manager('verify')).code).toBe(0)
    const { code, stdout } = await manager('verify', '--since', heads)
    expect(code).toBe(1)
    expect(stdout).toContain(`BROKEN chain ${second} at seq 7: rows are missing: a checkpoint sealed row 10`)
    expect(stdout).toContain('BROKEN checkpoints: checkpoint 2 is missing or was replaced')
    await tamper(
      service,
      `insert into audit_logs select * from kept; insert into audit_checkpoints select * from kept_checkpoints;
       delete from audit_chains; insert into audit_chains select * from kept_heads`,
    )
    expect((await manager('verify', '--since', heads)).code).toBe(0)
  })

  test('does not hide a row that was changed before it, which full verification shows', async () => {
    await tamper(service, `update audit_logs set ip_address = 'x' where chain_id = '${first}' and seq = 22`)
    const { code, stdout } = await manager('verify', '--since', heads)
    expect([code, stdout]).toEqual([1, expect.stringContaining(`BROKEN chain ${first} at seq 22`)])
    await tamper(service, `update audit_logs set ip_address = '' where chain_id = '${first}' and seq = 22`)
    await tamper(service, `update audit_logs set ip_address = 'x' where chain_id = '${first}' and seq = 2`)
    expect((await manager('verify', '--since', heads)).code).toBe(0)
    expect((await manager('verify')).stdout).toContain(`BROKEN chain ${first} at seq 2`)
  })
})

test('[audit-append.chain-status] a full verification that finds everything whole clears what the service had found', async () => {
  const { db } = service.world.database
  const run = () =>
    runVerification({ db: db.write, keys: [checkpointKey], macKey }, { newRows: 1_000, oldRows: 1_000 })
  const findings = async () => (await readVerdict(db.read, macKey))?.findings
  await run()
  expect(await findings()).toEqual([`chain ${first} is broken at seq 2: row 2 was changed`])
  expect((await manager('verify')).code).toBe(1)
  expect(await findings()).toHaveLength(1)
  await tamper(service, `update audit_logs set ip_address = '' where chain_id = '${first}' and seq = 2`)
  expect((await manager('verify', '--since', '1')).code).toBe(0)
  expect(await findings()).toHaveLength(1)
  expect((await manager('verify')).code).toBe(0)
  await run()
  expect(await findings()).toEqual([])
})
