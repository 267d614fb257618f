// Tests `manager pilet-keys …`, and other commands that affect the keys.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createEncryptionRing } from '../src/platform/secrets/keys.ts'
import { createSecrets, readSealingKeyId } from '../src/platform/secrets/secrets.ts'
import { masterKey } from '@manager/harness/callers.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { type TestDatabase, createScratchDatabase } from './kit/databases.ts'
import { runManager } from './kit/commands.ts'
import { ring } from '@manager/harness/sealed-endpoints.ts'
import { secretsOf } from './kit/sealed-endpoints.ts'
import { type SeededProject, seedProject } from '@manager/harness/seed.ts'
import { isTrusted, seedPilet, readStoredPilets } from './kit/stored-pilets.ts'

let database: TestDatabase
let sql: Pool
let project: SeededProject
beforeEach(async () => {
  database = await createScratchDatabase()
  sql = new Pool({ connectionString: database.url, max: 3 })
  project = await seedProject(sql, 'shop')
})
afterEach(async () => {
  await sql.end()
  await database.drop()
})

type Env = Record<string, string | undefined>
const manager = (args: string[], env: Env = {}) => runManager(args, { ...testEnv(database.url), ...env })
const keys = (...args: string[]) => manager(['pilet-keys', ...args])
const create = async (): Promise<string> => (await keys('create')).stdout.slice(0, 16)
const exported = async (env: Env = {}): Promise<Record<string, string>> => {
  const { code, stdout, stderr } = await manager(['pilet-keys', 'export'], env)
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as Record<string, string>
}
/** Returns the names of the pilets that pages with these keys accept. */
const trustedBy = async (anchor: Record<string, string>): Promise<string[]> =>
  (await readStoredPilets(sql)).filter((one) => isTrusted(anchor, one)).map(({ name }) => name)
const auditRows = async (entityType: string) =>
  (
    await sql.query<Record<string, unknown>>(
      `select description, changes, principal_type || ' ' || principal_id as by, chain_id from audit_logs
       where entity_type = $1 order by chain_id, seq`,
      [entityType],
    )
  ).rows
const privateKeys = async (secrets = secretsOf()): Promise<string[]> => {
  const { rows } = await sql.query<{ id: string; private_key: Buffer }>(
    'select id, private_key from pilet_signing_keys',
  )
  const place = { table: 'pilet_signing_keys', column: 'private_key' }
  return rows.map(({ id, private_key: sealed }) => secrets.open(sealed, { ...place, id }))
}

describe('rotation', () => {
  test('with overlap: what either key has signed is taken by every page that has both', async () => {
    await seedPilet(sql, project.id, 'old')
    const first = await keys('create')
    expect(first).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^[0-9a-f]{16} was created and is active, because it is the first key\.\nNext: run `manager pilet-keys export`.*\n$/,
      ) as string,
      stderr: '',
    })
    const a = first.stdout.slice(0, 16)
    const oldAnchor = await exported()
    expect(Object.keys(oldAnchor)).toEqual([a])
    expect(await keys('sign')).toEqual({ code: 0, stdout: 'Signed 1 pilet.\n', stderr: '' })

    const second = await keys('create')
    const b = second.stdout.slice(0, 16)
    expect(second.stdout.split('\n')).toEqual([
      `${b} was created. It is not active yet.`,
      'Next: run `manager pilet-keys export` and deploy the result to your pages as pilet_signing_keys.',
      `When all pages have the key, run \`manager pilet-keys activate ${b}\`.`,
      '',
    ])
    const anchor = await exported()
    expect(anchor).toEqual({ ...oldAnchor, [b]: expect.any(String) as string })

    // Until the activation, pages with the previous keys accept all pilets.
    await seedPilet(sql, project.id, 'meanwhile')
    await keys('sign')
    expect(await trustedBy(oldAnchor)).toEqual(['meanwhile', 'old'])
    expect(await keys('activate', b)).toEqual({ code: 0, stdout: `${b} is now active.\n`, stderr: '' })
    expect(await keys('activate', b)).toEqual({ code: 0, stdout: `${b} is already active.\n`, stderr: '' })
    await seedPilet(sql, project.id, 'new')
    await keys('sign')
    expect((await readStoredPilets(sql)).map(({ keyId }) => keyId)).toEqual([a, b, a])
    expect(await trustedBy(oldAnchor)).toEqual(['meanwhile', 'old'])
    expect(await trustedBy(anchor)).toEqual(['meanwhile', 'new', 'old'])
    expect(await exported()).toEqual(anchor)

    expect((await auditRows('piletSigningKey')).map(({ by, changes }) => [by, changes])).toMatchObject([
      ['system manager pilet-keys create', { keyId: { after: a }, isActive: { after: true } }],
      ['system manager pilet-keys create', { keyId: { after: b }, isActive: { after: false } }],
      ['system manager pilet-keys activate', { isActive: { before: true, after: false } }],
      ['system manager pilet-keys activate', { isActive: { before: false, after: true } }],
    ])
    expect((await manager(['audit', 'verify'])).code).toBe(0)
  })

  test('list shows the keys, which one signs, since when, and how much each has signed', async () => {
    expect(await keys('list')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No key exists yet. The first upload creates one.\n',
    })
    await seedPilet(sql, project.id, 'one')
    const [a, b] = [await create(), await create()]
    const unsigned = await keys('list')
    expect(unsigned.stderr).toBe('1 pilet has no signature. Sign it with `manager pilet-keys sign`.\n')
    await keys('sign')
    const { code, stdout, stderr } = await keys('list')
    expect([code, stderr]).toEqual([0, ''])
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {2,}/)),
    ).toEqual([
      ['KEY', 'STATE', 'CREATED', 'ACTIVATED', 'PILETS'],
      [a, 'active', time, time, '1'],
      [b, 'verifies', time, '-', '0'],
    ])
    const lines = (await keys('list', '--json')).stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { key_id: a, state: 'active', created_at: time, activated_at: time, pilets: 1 },
      { key_id: b, state: 'verifies', created_at: time, activated_at: null, pilets: 0 },
    ])
  })
})

describe('sign', () => {
  test('--replacing takes a leaked key out of use: re-signed, deleted, and no longer exported', async () => {
    for (const name of ['one', 'two']) await seedPilet(sql, project.id, name)
    await seedPilet(sql, project.id, 'same-bytes', {
      bytes: (await readStoredPilets(sql))[0]?.bytes as Buffer,
    })
    const leaked = await create()
    await keys('sign')
    const next = await create()
    expect((await keys('sign', '--replacing', leaked)).stderr).toBe(
      `error: the key ${leaked} is active; activate another signing key first\n`,
    )
    expect((await keys('delete', leaked)).stderr).toBe(
      `error: the key ${leaked} is active; activate another key first\n`,
    )
    await keys('activate', next)
    expect(await keys('delete', leaked)).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: pilets are signed with the key ${leaked}; run \`manager pilet-keys sign --replacing ${leaked}\` to sign them with the active key\n`,
    })
    const version = async () =>
      (await sql.query("select versions ->> 'pilet_packages' as mark from project_versions")).rows
    const before = await version()
    expect((await keys('sign', '--replacing', leaked)).stdout).toBe('Signed 3 pilets.\n')
    // Because of the new version, processes rebuild their cached feeds.
    expect(await version()).not.toEqual(before)
    expect((await keys('delete', leaked)).stdout).toBe(
      `Deleted ${leaked}. Export the keys again and deploy them to your pages.\n`,
    )
    const anchor = await exported()
    expect(Object.keys(anchor)).toEqual([next])
    expect(await trustedBy(anchor)).toEqual(['one', 'same-bytes', 'two'])
    const rows = await auditRows('piletPackage')
    expect(rows).toHaveLength(6)
    expect(rows.at(-1)).toEqual({
      description: expect.stringMatching(/^piletPackage [a-z-]+ 1\.0\.0 updated$/) as string,
      changes: { keyId: { before: leaked, after: next } },
      by: 'system manager pilet-keys sign',
      chain_id: project.id,
    })
    expect((await auditRows('piletSigningKey')).at(-1)).toMatchObject({
      description: `piletSigningKey ${leaked} deleted`,
      by: 'system manager pilet-keys delete',
    })
  })

  test('signs nothing that is damaged or missing, names it, does the rest, and exits 1', async () => {
    const names = ['changed', 'cut', 'gone', 'whole']
    for (const name of names) await seedPilet(sql, project.id, name)
    const hashOf = "(select hash from pilet_packages where name = 'NAME')"
    const chunkOf = (name: string) => `where sha256 = ${hashOf.replace('NAME', name)}`
    await sql.query(`update blob_chunks set bytes = set_byte(bytes, 3, 0) ${chunkOf('changed')}`)
    await sql.query(`update blob_chunks set bytes = substr(bytes, 1, 5) ${chunkOf('cut')}`)
    await sql.query(`delete from blob_chunks ${chunkOf('gone')}`)
    for (const signed of [1, 0]) {
      const { code, stdout, stderr } = await keys('sign')
      expect([code, stdout]).toEqual([1, signed === 1 ? 'Signed 1 pilet.\n' : 'Signed 0 pilets.\n'])
      const lines = stderr.trimEnd().split('\n').toSorted()
      expect(lines).toEqual([
        expect.stringMatching(
          /^DAMAGED changed 1\.0\.0 of project shop: the stored bytes [0-9a-f]{64} are missing or incomplete$/,
        ),
        expect.stringMatching(/^DAMAGED cut 1\.0\.0 of project shop/),
        expect.stringMatching(/^DAMAGED gone 1\.0\.0 of project shop/),
        'These pilets were not signed. Upload them again under a new version.',
      ])
    }
    const { rows } = await sql.query('select name from pilet_packages where key_id is not null')
    expect(rows).toEqual([{ name: 'whole' }])
  })
})

test('sign --replacing gives no signature to what browsers refuse, nor believes a key that was changed', async () => {
  for (const name of ['forged', 'honest']) await seedPilet(sql, project.id, name)
  const [former] = [await create(), await keys('sign')]
  const next = await create()
  await keys('activate', next)
  // Replace the bytes and the hash, but keep the old signature.
  await seedPilet(sql, project.id, 'source', { bytes: Buffer.from('other bytes') })
  await sql.query(
    "update pilet_packages set hash = (select hash from pilet_packages where name = 'source') where name = 'forged'",
  )
  expect(await keys('sign', '--replacing', former)).toEqual({
    code: 1,
    stdout: 'Signed 1 pilet.\n',
    stderr:
      'DAMAGED forged 1.0.0 of project shop: the signature does not match the stored bytes\n' +
      'These pilets were not signed. Upload them again under a new version.\n',
  })
  expect(await trustedBy(await exported())).toEqual(['honest'])
  await sql.query(
    "update pilet_signing_keys set public_key = decode(repeat('07', 32), 'hex') where key_id = $1",
    [former],
  )
  expect((await keys('sign', '--replacing', former)).stderr).toBe(
    `error: the signing key ${former} was changed: its public key does not match its id; restore the row from a backup\n`,
  )
})

describe('the keys of stored secrets', () => {
  test('`keys rotate` and `keys exchange-master` keep the signing keys, which sign and verify as before', async () => {
    const anchorOf = (env: Env) => exported(env)
    const signWith = async (name: string, env: Env) => {
      await seedPilet(sql, project.id, name)
      expect(await manager(['pilet-keys', 'sign'], env)).toMatchObject({ code: 0 })
    }
    await signWith('first', {})
    const anchor = await anchorOf({})

    const rotated = { SVC_ENCRYPTION_KEYS: ring(2027) }
    expect((await manager(['keys', 'rotate'], rotated)).stdout).toMatch(/^Rewrapped 1 of 1 secrets/)
    const { rows } = await sql.query<{ private_key: Buffer }>('select private_key from pilet_signing_keys')
    expect(rows.map((row) => readSealingKeyId(row.private_key))).toEqual(['2027'])
    await signWith('second', rotated)

    const next = randomBytes(32).toString('base64')
    const file = `${mkdtempSync(`${tmpdir()}/master-key-`)}/key`
    writeFileSync(file, next)
    const exchange = await manager(['keys', 'exchange-master', '--new-key-file', file], rotated)
    expect([exchange.code, exchange.stderr]).toEqual([0, ''])
    const after = { ...rotated, SVC_MASTER_KEY: next }
    await signWith('third', after)
    expect(await anchorOf(after)).toEqual(anchor)
    expect(await trustedBy(anchor)).toEqual(['first', 'second', 'third'])

    // Commands reject the previous master key and a ring without the encryption key.
    expect((await manager(['pilet-keys', 'export'], rotated)).stderr).toContain('SVC_MASTER_KEY is not the')
    expect(await manager(['pilet-keys', 'export'], { SVC_MASTER_KEY: next })).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: the signing key [0-9a-f]{16} cannot be decrypted/) as string,
    })
  })

  test('private keys are in nothing that commands print, nor in the audit trail', async () => {
    await seedPilet(sql, project.id, 'one')
    const results = [await keys('create'), await keys('create'), await keys('sign'), await keys('list')]
    const ids = results.slice(0, 2).map(({ stdout }) => stdout.slice(0, 16))
    results.push(await keys('export', '--pretty'), await keys('activate', ids[1] ?? ''))
    results.push(await keys('sign', '--replacing', ids[0] ?? ''))
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0, 0])
    const secrets = createSecrets(createEncryptionRing(Buffer.from(masterKey, 'base64')))
    const opened = await privateKeys(secrets)
    expect(opened).toHaveLength(2)
    const { rows } = await sql.query('select audit_logs::text from audit_logs')
    expect(rows.length).toBeGreaterThan(4)
    const said = JSON.stringify([results, rows])
    for (const der of opened.map((text) => Buffer.from(text, 'base64')))
      for (const hidden of [der, der.subarray(-32)])
        for (const form of ['base64', 'base64url', 'hex'] as const)
          expect(said).not.toContain(hidden.toString(form).slice(-30))
    const { rows: sealed } = await sql.query<{ text: string }>(
      'select pilet_signing_keys::text from pilet_signing_keys',
    )
    for (const der of opened)
      expect(JSON.stringify(sealed)).not.toContain(Buffer.from(der, 'base64').toString('hex'))
  })
})

describe('the commands', () => {
  test('explain themselves with examples, without any configuration', async () => {
    const { code, stdout } = await runManager(['pilet-keys', '--help'], {})
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Usage: manager pilet-keys /)])
    expect(stdout.split('\n').every((line) => line.length <= 130)).toBe(true)
    const steps = ['pilet-keys create', 'pilet-keys export', 'pilet-keys activate']
    const places = steps.map((step) => stdout.indexOf(step, stdout.indexOf('To rotate the signing key')))
    expect(places.every((at) => at > 0)).toBe(true)
    expect(places).toEqual(places.toSorted((x, y) => x - y))
    for (const command of ['create', 'list', 'activate', 'export', 'sign', 'delete']) {
      const help = await runManager(['pilet-keys', command, '--help'], {})
      expect([help.code, help.stdout]).toEqual([
        0,
        expect.stringMatching(new RegExp(`^Usage: manager pilet-keys ${command}`)),
      ])
      expect(help.stdout).toContain(`manager -- pilet-keys ${command}`)
    }
  })

  test('refuse a key that is not there, and an export without keys, and say what to do', async () => {
    const unknown = '0123456789abcdef'
    for (const args of [
      ['activate', unknown],
      ['delete', unknown],
      ['sign', '--replacing', unknown],
    ])
      expect(await keys(...args)).toEqual({
        code: 1,
        stdout: '',
        stderr: `error: signing key ${unknown} does not exist; run \`manager pilet-keys list\` to list the keys\n`,
      })
    expect(await keys('export')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: there is no key to export; create the first one with `manager pilet-keys create`\n',
    })
  })
})
