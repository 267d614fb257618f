// Tests the import of callers and their targets, rule by rule.
import { afterEach, describe, expect, test } from 'vitest'
import { type Builder, buildInstall } from './builder.ts'
import { findDifferences } from './differences.ts'
import { type Imported, importInstall, newIdOf } from './imported.ts'
import { oddCallbackUrls, oddPaths } from './odd-texts.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function imported<T>(build: (b: Builder) => T): Promise<Imported & { built: T }> {
  let built: T | undefined
  const done = await importInstall((upstream) => {
    const builder = buildInstall({ upstream })
    built = build(builder)
    return builder.install
  })
  closing.push(() => done.close())
  return { ...done, built: built as T }
}
const outcomeOf = ({ ledger }: Imported, view: string, { id }: { id: string }) => {
  const row = ledger.get(view)?.get(id)
  return row === undefined ? undefined : [row.outcome, ...row.rules]
}

describe('machine users', () => {
  test('keep their tokens; those that share one become one', async () => {
    const done = await imported((b) => {
      const project = b.project()
      const [one, two] = [b.tenant(project, { type: 'dev' }), b.tenant(project)]
      const elsewhere = b.tenant(b.project())
      b.application(one)
      const off = b.bearer(one, { enabled: false })
      const secret = b.install.secrets.machines.get(off.id) as { token: string }
      const on = b.bearer(two, { token: secret.token })
      // An endpoint that only the disabled machine user may call stays unreachable.
      const clone = b.application(two, { slug: 'shop' })
      b.endpoint(clone, { callers: [on.id] })
      b.endpoint(clone, { consume_url: '/off', callers: [off.id] })
      const shared = b.bearer(elsewhere)
      const other = b.bearer(one, {
        enabled: false,
        token: (b.install.secrets.machines.get(shared.id) as { token: string }).token,
      })
      const orphan = b.bearer({ id: b.newId() })
      return { off, on, other, orphan, none: b.machine(one, { username: 'x' }) }
    })
    const { off, on, other, orphan, none } = done.built
    expect(await findDifferences(done)).toEqual([])
    expect([on, off, other, orphan, none].map((row) => outcomeOf(done, 'machine_users', row))).toEqual([
      ['moved'],
      ['merged', 'token-shared'],
      ['kept_aside', 'token-elsewhere'],
      ['kept_aside', 'orphan'],
      ['kept_aside', 'no-credential'],
    ])
    expect(newIdOf(done, 'machine_users', off.id)).toBe(newIdOf(done, 'machine_users', on.id))
  })

  test('keep their passwords; a user name that is taken gets that of the tenant with it', async () => {
    const done = await imported((b) => {
      const project = b.project()
      const [one, two] = [b.tenant(project), b.tenant(project, { slug: 'second' })]
      b.application(one)
      b.basic(one, { username: 'robot', iterations: 600_000 })
      const taken = b.basic(two, { username: 'robot' })
      const foreign = b.machine(two, { username: 'hashed', password_hash: '$2b$10$notours' })
      return { taken, foreign }
    })
    const { taken, foreign } = done.built
    expect(await findDifferences(done)).toEqual([])
    expect(outcomeOf(done, 'machine_users', taken)).toEqual(['moved', 'username-taken'])
    expect(outcomeOf(done, 'machine_users', foreign)).toEqual(['kept_aside', 'no-credential'])
    const { rows } = await done.service.sql.query('select username from machine_users order by username')
    expect(rows).toEqual([{ username: 'robot' }, { username: 'robot@second' }])
  })
})

describe('endpoints', () => {
  test('that do the same become one; each other one has a path below its tenant', async () => {
    const done = await imported((b) => {
      const project = b.project()
      const tenants = ['one', 'two', 'three', 'four'].map((slug) => b.tenant(project, { slug }))
      const clones = tenants.map((tenant) => b.application(tenant, { slug: 'shop' }))
      const callers = tenants.map((tenant) => b.bearer(tenant))
      const add = (index: number, given: object) =>
        b.endpoint(clones[index] as { id: string }, { callers: [callers[index]?.id as string], ...given })
      const same = [
        add(0, { log_level: 'FULL' }),
        add(1, { name: 'Other', log_level: 'NONE' }),
        add(2, { enabled: false }),
      ]
      const variant = add(3, { auth_type: 'Basic', auth_username: 'u', auth_password: 'p' })
      return { same, variant }
    })
    const { same, variant } = done.built
    expect(await findDifferences(done)).toEqual([])
    expect(new Set(same.map(({ id }) => newIdOf(done, 'endpoints', id))).size).toBe(1)
    expect(outcomeOf(done, 'endpoints', variant)).toContain('endpoint-variant')
    const { rows } = await done.service.sql.query(
      'select consume_url, log_level, enabled from endpoints order by consume_url',
    )
    expect(rows).toEqual([
      { consume_url: '/four/orders', log_level: 'BASIC', enabled: true },
      { consume_url: '/orders', log_level: 'BASIC', enabled: true },
    ])
  })

  test('that differ in any field of what they do stay apart', async () => {
    const differences = [
      { auth_type: 'Basic', auth_username: 'a', auth_password: 'p' },
      { auth_type: 'Basic', auth_username: 'b', auth_password: 'p' },
      { auth_type: 'Basic', auth_username: 'a', auth_password: 'q' },
      { auth_type: 'Bearer', auth_token: 't' },
      { auth_type: 'Bearer', auth_token: 'u' },
      { input_message_type: 'XML' },
      { output_message_type: 'JSON' },
      { transformation_template: '{}' },
    ]
    const done = await imported((b) => {
      const project = b.project()
      for (const difference of [{}, { url: `${b.upstream}/other` }, ...differences]) {
        const tenant = b.tenant(project)
        b.endpoint(b.application(tenant, { slug: 'shop' }), { callers: [b.bearer(tenant).id], ...difference })
      }
    })
    expect(await findDifferences(done)).toEqual([])
    const { rows } = await done.service.sql.query('select id from endpoints')
    expect(rows).toHaveLength(differences.length + 2)
  })

  test('that our rules refuse are kept aside; one without its secret is disabled', async () => {
    const done = await imported((b) => {
      const tenant = b.tenant(b.project())
      const clone = b.application(tenant)
      const caller = b.bearer(tenant)
      const stranger = b.bearer(b.tenant(b.project()))
      const refused = oddPaths.map((consume_url) => b.endpoint(clone, { consume_url, callers: [caller.id] }))
      const secretless = b.endpoint(clone, { auth_type: 'Bearer', callers: [caller.id] })
      const called = b.endpoint(clone, {
        consume_url: '/called',
        callers: [caller.id, stranger.id, b.newId()],
      })
      return { refused, secretless, called }
    })
    const { refused, secretless, called } = done.built
    expect(await findDifferences(done)).toEqual([])
    for (const row of refused)
      expect(outcomeOf(done, 'endpoints', row)).toEqual(['kept_aside', 'endpoint-refused'])
    expect(outcomeOf(done, 'endpoints', secretless)).toEqual(['moved', 'endpoint-no-secret'])
    expect(outcomeOf(done, 'endpoints', called)).toEqual(['moved', 'caller-unknown'])
  })
})

test('backends keep their registrations, or register again [versioning.migrate-environments]', async () => {
  const done = await imported((b) => {
    const project = b.project()
    const tenant = b.tenant(project, { type: 'dev' })
    const clone = b.application(tenant)
    const good = b.backend(clone, b.bearer(tenant))
    const refused = oddCallbackUrls.map((callback_url) =>
      b.backend(clone, b.bearer(tenant), { callback_url }),
    )
    const tokenless = b.backend(clone, b.bearer(tenant), { callback_token: null })
    const orphan = b.backend({ id: b.newId() }, b.bearer(tenant))
    return { good, again: [...refused, tokenless], orphan }
  })
  const { good, again, orphan } = done.built
  expect(await findDifferences(done)).toEqual([])
  expect(newIdOf(done, 'backends', good.id)).toBe(good.id)
  for (const row of again) expect(outcomeOf(done, 'backends', row)).toEqual(['kept_aside', 'registers-again'])
  expect(outcomeOf(done, 'backends', orphan)).toEqual(['kept_aside', 'orphan'])
})

test('pilets keep their bytes; what is damaged or taken is kept aside', async () => {
  const done = await imported((b) => {
    const project = b.project()
    const bytes = Buffer.from('export default 1')
    return {
      good: b.pilet(project, { bytes, hash: null }),
      same: b.pilet(project, { bytes }),
      taken: b.pilet(project),
      damaged: b.pilet(project, { version: '1.0.1', hash: 'f'.repeat(64) }),
      unnamed: b.pilet(project, { name: 'Not A Name' }),
      unversioned: b.pilet(project, { version: 'latest' }),
      elsewhere: b.pilet(b.project(), { bytes }),
      orphan: b.pilet({ id: b.newId() }),
    }
  })
  expect(await findDifferences(done)).toEqual([])
  const found = Object.entries(done.built).map(([name, row]) => [
    name,
    ...(outcomeOf(done, 'pilets', row) ?? []),
  ])
  expect(found).toEqual([
    ['good', 'moved'],
    ['same', 'merged', 'same-bytes'],
    ['taken', 'kept_aside', 'version-taken'],
    ['damaged', 'kept_aside', 'pilet-refused'],
    ['unnamed', 'kept_aside', 'pilet-refused'],
    ['unversioned', 'kept_aside', 'pilet-refused'],
    ['elsewhere', 'moved'],
    ['orphan', 'kept_aside', 'orphan'],
  ])
})

test('personal access tokens stay valid, expire and stay revoked', async () => {
  const done = await imported((b) => {
    b.application(b.tenant(b.project()))
    const person = b.random.uuid()
    const good = b.token(person, { iterations: 600_000 })
    return {
      good,
      revoked: b.token(person, { revoked: true }),
      expired: b.token(person, { expires_at: '2025-01-01T00:00:00Z' }),
      taken: b.token(person, { token_prefix: good.token_prefix, revoked: true }),
      nobody: b.token('jane'),
      foreign: b.token(person, { hash: '$2b$10$notours' }),
    }
  })
  expect(await findDifferences(done)).toEqual([])
  const found = Object.entries(done.built).map(([name, row]) => [
    name,
    ...(outcomeOf(done, 'tokens', row) ?? []),
  ])
  expect(found).toEqual([
    ['good', 'moved'],
    ['revoked', 'moved'],
    ['expired', 'moved'],
    ['taken', 'kept_aside', 'prefix-taken'],
    ['nobody', 'kept_aside', 'no-subject'],
    ['foreign', 'kept_aside', 'no-credential'],
  ])
})
