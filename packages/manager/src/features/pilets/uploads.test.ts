// These tests cover uploads: stored data, rejections, and the cleanup after a rejected upload.
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { chainRows } from '../../../test/kit/audit-rows.ts'
import {
  type PiletUpload,
  callPilets,
  formOf,
  formPart,
  piletPath,
  uploadPilet,
} from '@manager/harness/pilets.ts'
import { uploadTraces } from '../../../test/kit/seeded-pilets.ts'
import { useProject } from '../../../test/kit/project.ts'

const [maxUploadBytes, maxProjectBytes] = [65_536, 400_000]
const { service, project, other, member, admin } = useProject({
  withOther: true,
  env: {
    SVC_PILETS_MAX_UPLOAD_BYTES: String(maxUploadBytes),
    SVC_PILETS_MAX_PROJECT_BYTES: String(maxProjectBytes),
    SVC_PILETS_UPLOAD_MEMORY_BYTES: String(2 * maxUploadBytes),
  },
})
const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')

let developer: Person
beforeAll(async () => {
  developer = await member('developer', 'developer')
})

const upload = (name: string, version: string, more: Partial<PiletUpload> = {}) =>
  uploadPilet(service, developer, { projectId: project.id, name, version, ...more })
const stored = async (name: string) =>
  (await service.sql.query('select * from pilet_packages where name = $1 order by version', [name])).rows
const traces = () => uploadTraces(service)

describe('an upload', () => {
  test('[pilets.upload] [pilets.hash] answers what was stored; the hash is that of the exact bytes', async () => {
    const bytes = Buffer.from('//@pilet v:3\r\nexport {}\0\xff\r\n--not-the-boundary', 'latin1')
    const { status, body } = await upload('@acme/menu', '1.0.0', { bytes })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: '@acme/menu',
      version: '1.0.0',
      size: bytes.length,
      hash: sha256(bytes),
      enabled: true,
      message: 'Package uploaded',
    })
    expect(await stored('@acme/menu')).toMatchObject([
      { id: body.id, hash: body.hash, spec: 'v3', is_stable: true, enabled: true, description: '' },
    ])
  })

  test('[pilets.upload] is signed over the exact bytes with the active key', async () => {
    const bytes = randomBytes(50_000)
    await upload('signed', '1.0.0', { bytes })
    const { rows } = await service.sql.query(
      'select p.signature, p.statement_signature, k.public_key from pilet_packages p join pilet_signing_keys k using (key_id) where name = $1',
      ['signed'],
    )
    const { signature, statement_signature, public_key } = rows[0] as Record<string, Buffer>
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: public_key?.toString('base64url') }
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    expect(verify(null, bytes, key, signature as Buffer)).toBe(true)
    const statement = `{"svcPiletStatement":1,"project":"${project.id}","name":"signed","version":"1.0.0","hash":"${sha256(bytes)}"}`
    expect(verify(null, Buffer.from(statement), key, statement_signature as Buffer)).toBe(true)
  })

  test('[pilets.upload-query] keeps its description, and is enabled unless it is staged', async () => {
    await upload('staged', '1.0.0', { query: '?description=the%20first%20%F0%9F%8C%B1&enabled=false' })
    await upload('staged', '1.0.1', { query: '?enabled=true&unknown=ignored' })
    await upload('staged', '1.0.2', { query: `?description=${encodeURIComponent('🌱'.repeat(1_000))}` })
    expect((await stored('staged')).map(({ description, enabled }) => [description.length, enabled])).toEqual(
      [
        [12, false],
        [0, true],
        [2_000, true],
      ],
    )
    const before = await traces()
    for (const query of [
      '?enabled=1',
      '?enabled=',
      '?enabled=true&enabled=false',
      `?description=${'x'.repeat(1_001)}`,
      '?description=%00',
      '?description=a&description=b',
    ]) {
      const { status, body } = await upload('staged', '2.0.0', { query })
      expect([query, status, body.code]).toEqual([query, 400, 'bad_request'])
      expect(body.error).toMatch(/^(enabled|description) must/)
    }
    expect(await traces()).toEqual(before)
  })

  test('[pilets.upload-query] of a tester is stored disabled, whatever the query says, and the response says why', async () => {
    const tester = await member('tester', 'tester')
    for (const [index, query] of ['', '?enabled=true'].entries()) {
      const pilet = { projectId: project.id, name: 'untried', version: `1.0.${index}`, query }
      const { status, body } = await uploadPilet(service, tester, pilet)
      expect([status, body.enabled, body.message]).toEqual([
        200,
        false,
        'Package uploaded but disabled: enabling it requires project role developer or higher, or system role administrator',
      ])
    }
    const staged = { projectId: project.id, name: 'untried', version: '1.1.0', query: '?enabled=false' }
    expect((await uploadPilet(service, tester, staged)).body).toMatchObject({
      enabled: false,
      message: 'Package uploaded',
    })
    expect((await stored('untried')).map(({ enabled }) => enabled)).toEqual([false, false, false])
    const row = (await chainRows(service, project.id)).at(-1)
    expect(row).toMatchObject({ user_id: tester.id, changes: { enabled: { before: null, after: false } } })
    const { error } = await service.query(
      tester,
      `mutation { enablePiletPackage(projectId: "${project.id}", name: "untried", version: "1.0.0") { id } }`,
    )
    expect(error).toContain('not permitted')
  })

  test('[pilets.audited] appends one audit row that says what was uploaded', async () => {
    const { body } = await upload('audited', '1.0.0')
    const row = (await chainRows(service, project.id)).findLast(({ entity_id }) => entity_id === body.id)
    expect(row).toMatchObject({
      entity_type: 'piletPackage',
      action: 'create',
      description: 'piletPackage audited 1.0.0 created',
      user_id: developer.id,
      changes: { hash: { before: null, after: body.hash }, enabled: { before: null, after: true } },
    })
  })

  test('of the same bytes under two names keeps them once, and counts them twice', async () => {
    const bytes = randomBytes(1_000)
    const before = await service.sql.query('select bytes, packages from pilet_usage')
    await upload('twin-a', '1.0.0', { bytes })
    await upload('twin-b', '1.0.0', { bytes })
    const { rows } = await service.sql.query('select * from blobs where sha256 = $1', [sha256(bytes)])
    expect(rows).toMatchObject([{ size: 1_000, unreferenced_since: null, removing: false }])
    const after = await service.sql.query('select bytes, packages from pilet_usage')
    const grown = ['bytes', 'packages'].map(
      (column) => Number(after.rows[0][column]) - Number(before.rows[0][column]),
    )
    expect(grown).toEqual([2_000, 2])
  })

  test('takes a project id in capitals for the same project', async () => {
    await upload('capitals', '1.0.0', { projectId: project.id.toUpperCase() })
    expect(await stored('capitals')).toMatchObject([{ project_id: project.id }])
  })
})

test('a file that could pass as a signed statement about another pilet is refused, and leaves nothing', async () => {
  const before = await traces()
  const bytes = JSON.stringify({ svcPiletStatement: 1, project: other.id, name: 'core', version: '1.0.0' })
  const { status, body } = await upload('statement', '1.0.0', { bytes })
  expect([status, body.error]).toEqual([
    400,
    'the file looks like a signed statement about a pilet; send the bundle in the field file',
  ])
  expect(await traces()).toEqual(before)
})

describe('an existing version', () => {
  test('[pilets.upload-conflict] answers 409, and the stored bytes stay', async () => {
    await upload('taken', '1.0.0', { bytes: 'first' })
    const before = await traces()
    for (const bytes of ['second', 'first']) {
      const { status, body } = await upload('taken', '1.0.0', { bytes })
      expect([status, body.code]).toEqual([409, 'conflict'])
      expect(body.error).toContain('another version')
    }
    expect(await traces()).toEqual(before)
    const path = piletPath({ projectId: project.id, name: 'taken', version: '1.0.0' })
    expect((await callPilets(service, developer, path)).text).toBe('first')
  })

  test('[pilets.upload-conflict] of uploads at the same time one wins, and the others leave nothing', async () => {
    const all = Array.from({ length: 6 }, (_, index) => `content ${index}`)
    const answers = await Promise.all(all.map((bytes) => upload('raced', '1.0.0', { bytes })))
    expect(
      answers
        .map(({ status }) => String(status))
        .toSorted()
        .join(),
    ).toBe('200,409,409,409,409,409')
    const { rows } = await service.sql.query('select sha256 from blobs where sha256 = any($1)', [
      all.map(sha256),
    ])
    expect(rows).toEqual([{ sha256: answers.find(({ status }) => status === 200)?.body.hash }])
  })

  test('is one of its own project: another project has the same name and version', async () => {
    await upload('shared', '1.0.0', { bytes: 'a' })
    const { status } = await uploadPilet(service, admin, {
      projectId: other.id,
      name: 'shared',
      version: '1.0.0',
      bytes: 'b',
    })
    expect(status).toBe(200)
    expect(await stored('shared')).toHaveLength(2)
  })
})

describe('sizes', () => {
  test('[pilets.upload-size] the largest bundle is taken; one byte more answers 413 and stores nothing', async () => {
    const bytes = randomBytes(maxUploadBytes + 1)
    expect((await upload('largest', '1.0.0', { bytes: bytes.subarray(1) })).status).toBe(200)
    const before = await traces()
    const { status, body } = await upload('largest', '2.0.0', { bytes })
    expect([status, body.code]).toEqual([413, 'payload_too_large'])
    expect(body.error).toContain(String(maxUploadBytes))
    expect(await traces()).toEqual(before)
  })

  test('[pilets.upload-size] a far longer body is refused by the length it announces', async () => {
    const before = await traces()
    const { status, body } = await upload('largest', '3.0.0', { bytes: Buffer.alloc(1_000_000) })
    expect([status, body.code]).toEqual([413, 'payload_too_large'])
    expect(await traces()).toEqual(before)
  })

  test('beyond the number of versions of a project 413 is answered, and nothing stays', async () => {
    const change = (by: number) =>
      service.sql.query('update pilet_usage set packages = packages + $2 where project_id = $1', [
        project.id,
        by,
      ])
    await upload('number', '1.0.0', { bytes: 'x' })
    const { rows } = await service.sql.query('select packages from pilet_usage where project_id = $1', [
      project.id,
    ])
    const room = 100_000 - Number(rows[0].packages)
    await change(room - 1)
    expect((await upload('number', '1.0.1', { bytes: 'x' })).status).toBe(200)
    const before = await traces()
    const { status, body } = await upload('number', '1.0.2', { bytes: 'x' })
    expect([status, body.error]).toEqual([
      413,
      'the upload would exceed the limit of 100000 packages for all versions of the project; ask the operator to raise it',
    ])
    expect(await traces()).toEqual(before)
    await change(1 - room)
  })

  test('beyond the quota of the project 413 is answered, and nothing stays', async () => {
    const { rows } = await service.sql.query('select bytes from pilet_usage where project_id = $1', [
      project.id,
    ])
    const room = maxProjectBytes - Number(rows[0].bytes)
    await service.sql.query('update pilet_usage set bytes = bytes + $2 where project_id = $1', [
      project.id,
      room - 10,
    ])
    const before = await traces()
    const { status, body } = await upload('quota', '1.0.0', { bytes: 'eleven bytes'.slice(0, 11) })
    expect([status, body.code, body.error]).toEqual([
      413,
      'payload_too_large',
      expect.stringContaining(String(maxProjectBytes)),
    ])
    expect(await traces()).toEqual(before)
    expect((await upload('quota', '1.0.0', { bytes: 'ten bytes!' })).status).toBe(200)
    // The quota is used up, so the next body is not read.
    expect((await upload('quota', '1.0.1', { bytes: 'x' })).status).toBe(413)
    await service.sql.query('update pilet_usage set bytes = bytes - $2 where project_id = $1', [
      project.id,
      room - 10,
    ])
  })
})

test('[pilets.download-type] the stored type is one of a few, whatever the client declares', async () => {
  const cases: [string | null, string, string][] = [
    ['text/html', 'x.html', 'application/octet-stream'],
    ['image/svg+xml', 'x', 'application/octet-stream'],
    ['text/javascript; charset=utf-8', 'x', 'text/javascript'],
    ['application/x-gzip', 'x.tgz', 'application/x-gzip'],
    [null, 'x.tgz', 'application/gzip'],
  ]
  for (const [index, [type, fileName, expected]] of cases.entries()) {
    const version = `1.0.${index}`
    await upload('types', version, { type, fileName })
    const answer = await callPilets(
      service,
      developer,
      piletPath({ projectId: project.id, name: 'types', version }),
    )
    expect([answer.headers.get('content-type'), answer.headers.get('x-content-type-options')]).toEqual([
      expected,
      'nosniff',
    ])
  }
})

test('a part named file without a file name is the file too', async () => {
  const form = formOf(formPart({}, 'bytes'))
  const text = form.toString('latin1').replace('; filename="index.js"', '')
  expect((await upload('nameless', '1.0.0', { form: Buffer.from(text, 'latin1') })).body.hash).toBe(
    sha256('bytes'),
  )
})
