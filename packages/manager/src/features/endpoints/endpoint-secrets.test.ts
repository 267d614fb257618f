// These tests cover the passwords and tokens of endpoints: they are write-only, sealed in the database, and never
// stored or logged in plain text.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Pool } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ensurePostgres } from '@manager/harness/engines/install.ts'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { startTestApp } from '../../../test/kit/app.ts'
import { createScratchDatabase } from '../../../test/kit/databases.ts'
import { endpointCalls, endpointFields, seedEndpointAccess } from '../../../test/kit/endpoints.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { expectRefused } from '../../../test/kit/members.ts'
import { startProcess } from '@manager/harness/process.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser, seedProject, seedUser } from '@manager/harness/seed.ts'
import { createEncryptionRing } from '../../platform/secrets/keys.ts'
import { createSecrets, readSealingKeyId } from '../../platform/secrets/secrets.ts'

type Field = 'authPassword' | 'authToken'

const columns = { authPassword: 'auth_password', authToken: 'auth_token' } as const
const fields = ['authPassword', 'authToken'] as const
const plain = { authPassword: 'Correct-Horse-Battery', authToken: 'tok-Staple-12345678' }

const { service, admin, project } = useProject()

const { create, update, list, get, keptOf, auditOf } = endpointCalls(() => service)

let paths = 0
const made = async (input: object = plain): Promise<string> => {
  const answer = await create(admin, project.applicationId, {
    name: 'x',
    consumeURL: `/secret-${++paths}`,
    ...input,
  })
  expect(answer.error).toBeNull()
  return answer.data.row.id as string
}
const sealedOf = async (id: string, field: Field): Promise<Buffer | null> =>
  (await keptOf(id))?.[columns[field]] ?? null
/** Decrypts the stored secret. Returns null if none is stored. */
const openedOf = async (id: string, field: Field): Promise<string | null> => {
  const { masterKey, encryptionKeys } = service.config
  const secrets = createSecrets(createEncryptionRing(masterKey, encryptionKeys))
  const sealed = await sealedOf(id, field)
  return sealed === null ? null : secrets.open(sealed, { table: 'endpoints', column: columns[field], id })
}

describe('write-only', () => {
  test('[endpoints.secrets-write-only] a secret reads null in every answer that shows the endpoint', async () => {
    const applicationId = project.applicationId
    const answer = await create(admin, applicationId, { name: 'x', consumeURL: '/null', ...plain })
    const { id } = answer.data.row as { id: string }
    const { id: machineUserId } = await seedMachineUser(service.sql, project)
    await seedEndpointAccess(service.sql, { projectId: project.id, endpointId: id, machineUserId })
    const read = (text: string) => service.query(admin, text)
    const { data: nested } = await read(
      `{ application(projectId: "${project.id}", slug: "${project.applicationSlug}") { endpoints { ${endpointFields} } } }`,
    )
    const { data: joined } = await read(
      `{ machineUser2endpoints(endpoint: "${id}") { endpoint { ${endpointFields} } } }`,
    )
    const shown = [
      answer.data.row,
      (await update(admin, id, { name: 'y' })).data.row,
      (await update(admin, id, { ...plain, name: 'z' })).data.row,
      (await get(admin, applicationId, id)).data.row,
      ...(await list(admin, applicationId)).data.rows,
      ...nested.application.endpoints,
      joined.machineUser2endpoints[0].endpoint,
    ]
    expect(shown.length).toBeGreaterThanOrEqual(7)
    for (const row of shown) expect([row.authPassword, row.authToken]).toEqual([null, null])
    for (const field of fields) expect(await openedOf(id, field)).toBe(plain[field])
  })

  test('[endpoints.secrets-write-only] null or absent keeps a secret, an empty text clears it, another one takes its place', async () => {
    for (const field of fields) {
      const other = field === 'authToken' ? 'authPassword' : 'authToken'
      const id = await made()
      const [own, others] = [await sealedOf(id, field), await sealedOf(id, other)]
      for (const input of [{}, { [field]: null }, { name: 'y', authType: 'Bearer', url: null }]) {
        expect((await update(admin, id, input)).error).toBeNull()
        expect(await sealedOf(id, field)).toEqual(own)
      }
      await update(admin, id, { [field]: 'another' })
      expect(await openedOf(id, field)).toBe('another')
      for (const cleared of ['', null, '']) {
        await update(admin, id, { [field]: cleared })
        expect(await sealedOf(id, field)).toBeNull()
      }
      await update(admin, id, { [field]: 'back again' })
      expect(await openedOf(id, field)).toBe('back again')
      expect(await sealedOf(id, other)).toEqual(others)
    }
  })

  test('[endpoints.secrets-write-only] a new endpoint without a secret, or with null or an empty one, has none', async () => {
    for (const input of [{}, { authPassword: null, authToken: null }, { authPassword: '', authToken: '' }]) {
      const id = await made(input)
      for (const field of fields) expect(await sealedOf(id, field)).toBeNull()
    }
  })

  test('[endpoints.secrets-write-only] a secret has at most 4,096 characters and no control character, and the refusal does not repeat it', async () => {
    for (const field of fields) {
      for (const text of ['x', ' padded ', 'ü🙂"\\', 'x'.repeat(4_096)]) {
        const id = await made({ [field]: text })
        expect(await openedOf(id, field)).toBe(text)
      }
      const id = await made()
      const sealed = await sealedOf(id, field)
      for (const text of ['x'.repeat(4_097), 'a\0b', 'a\nb', 'a\r\nX-Header: b', 'a\u001bb', 'a\ud83d'])
        for (const answer of [
          await create(admin, project.applicationId, { name: 'x', consumeURL: '/refused', [field]: text }),
          await update(admin, id, { [field]: text }),
        ]) {
          expect(answer.error).toBe(`${field} must have at most 4096 characters, without control characters`)
          expectRefused(answer, 'bad_request')
        }
      expect(await sealedOf(id, field)).toEqual(sealed)
    }
  })

  test('[endpoints.secrets-write-only] a secret written under an id in upper case opens as any other', async () => {
    const id = await made({})
    await update(admin, id.toUpperCase(), plain)
    for (const field of fields) expect(await openedOf(id, field)).toBe(plain[field])
  })
})

describe('in the audit trail', () => {
  test('[endpoints.secrets-write-only] a row tells that a secret was set, replaced or cleared, and nothing of it', async () => {
    const id = await made()
    await update(admin, id, { authPassword: 'another-password' })
    await update(admin, id, { authToken: '' })
    await update(admin, id, { name: 'y', authPassword: null })
    const rows = await auditOf(id)
    const secret = '[secret]'
    expect(rows.map(({ changes }) => [changes['authPassword'], changes['authToken']])).toEqual([
      [
        { before: null, after: secret },
        { before: null, after: secret },
      ],
      [{ before: secret, after: secret }, undefined],
      [undefined, { before: secret, after: null }],
      [undefined, undefined],
    ])
    for (const { everything } of rows)
      for (const text of [...Object.values(plain), 'another-password']) expect(everything).not.toContain(text)
  })
})

describe('at rest', () => {
  test('[endpoints.secrets-encrypted] equal secrets are stored as different bytes, sealed with the active key and bound to their place', async () => {
    const [first, second] = [
      await made({ authPassword: 'same', authToken: 'same' }),
      await made({ authPassword: 'same' }),
    ]
    const stored = [
      await sealedOf(first, 'authPassword'),
      await sealedOf(first, 'authToken'),
      await sealedOf(second, 'authPassword'),
    ] as Buffer[]
    expect(new Set(stored.map((bytes) => bytes.toString('hex'))).size).toBe(3)
    expect(stored.map((bytes) => readSealingKeyId(bytes))).toEqual(['master', 'master', 'master'])
    // Write access to the database must not let an endpoint use another endpoint's secret.
    await service.sql.query('update endpoints set auth_password = $1 where id = $2', [stored[0], second])
    await expect(openedOf(second, 'authPassword')).rejects.toThrow()
    await service.sql.query('update endpoints set auth_password = auth_token where id = $1', [first])
    await expect(openedOf(first, 'authPassword')).rejects.toThrow()
    expect(await openedOf(first, 'authToken')).toBe('same')
  })

  test('[endpoints.secrets-encrypted] with configured keys the first of them seals', async () => {
    const keys = ['2027', '2026'].map((id, n) => `${id}:${Buffer.alloc(32, n + 1).toString('base64')}`)
    const keyed = await startTestApp({
      database: service.database,
      env: { SVC_ENCRYPTION_KEYS: keys.join(',') },
    })
    const { data } = await endpointCalls(() => keyed).create(admin, project.applicationId, {
      name: 'x',
      consumeURL: '/keyed',
      ...plain,
    })
    await keyed.close()
    for (const field of fields) {
      const sealed = (await sealedOf(data.row.id as string, field)) as Buffer
      expect(readSealingKeyId(sealed)).toBe('2027')
      await expect(openedOf(data.row.id as string, field)).rejects.toThrow(
        'the encryption key 2027 is not in the ring',
      )
    }
  })

  test('[endpoints.secrets-encrypted] no dump of the database, no log line at any level and no refusal holds a secret', async () => {
    const database = await createScratchDatabase()
    const running = await startProcess(database.url, {
      SVC_LOG_LEVEL: 'trace',
      SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
    })
    onTestFinished(async () => {
      running.child.kill('SIGKILL')
      await running.exit
      await database.drop()
    })
    const sql = new Pool({ connectionString: database.url, max: 1 })
    const [caller, nobody] = [await seedUser(sql, 'admin', 'administrator'), await seedUser(sql, 'nobody')]
    const { applicationId } = await seedProject(sql, 'dumped')
    await sql.end()
    const mutate = (who: Person, operation: string, more: object = {}) =>
      postQuery(
        running.url,
        headersOf(who),
        `mutation($input: ${operation.startsWith('create') ? 'Create' : 'Update'}EndpointInput!) { row: ${operation}, input: $input) { id } }`,
        { input: { ...plain, ...more } },
      )
    const creation = `createEndpoint(applicationId: "${applicationId}"`
    const { data } = await mutate(caller, creation, { name: 'Dumped endpoint', consumeURL: '/dumped' })
    const change = `updateEndpoint(id: "${data.row.id}"`
    const refusals = [
      await mutate(caller, creation, { name: 'x', consumeURL: '/dumped' }),
      await mutate(caller, creation, { name: '', consumeURL: '/x' }),
      await mutate(nobody, creation, { name: 'x', consumeURL: '/x' }),
      await mutate(caller, change, { url: 'nowhere' }),
      await mutate(caller, change, { logLevel: 'LOUD' }),
      await mutate(caller, change, { authToken: `${plain.authToken}\n` }),
      await mutate(nobody, change),
    ]
    expect(refusals.filter(({ error }) => error === null)).toEqual([])
    expect((await mutate(caller, change, { name: 'Dumped endpoint 2' })).error).toBeNull()
    running.child.kill('SIGTERM')
    await running.exit
    const { stdout: dump } = await promisify(execFile)(
      `${ensurePostgres()}/pg_dump`,
      ['--inserts', database.url],
      { maxBuffer: 64 * 1_048_576 },
    )
    const log = running.lines.join('\n')
    // Both dumps contain the expected content, so a secret that is not found is really absent.
    expect(dump).toContain('Dumped endpoint 2')
    expect(log).toContain('"route":"/query"')
    const everything = [dump, log, JSON.stringify(refusals)].join('\n')
    for (const text of Object.values(plain))
      for (const encoding of ['utf8', 'hex', 'base64', 'base64url'] as const)
        expect(everything).not.toContain(Buffer.from(text).toString(encoding).replace(/=+$/, ''))
  })
})
