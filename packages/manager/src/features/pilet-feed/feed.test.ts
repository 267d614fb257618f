// These tests cover GET /pilet-feed/…, which lists the pilets that frontends load.
import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import {
  requestThroughProxy,
  etagOf,
  expectNotFound,
  expectRevalidates,
  expectSecretOnly,
} from '../../../test/kit/cached-responses.ts'
import { addPackages, setLayer, sha256, signingOf } from '../../../test/kit/pilet-rows.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type SeededProject, seedProject } from '@manager/harness/seed.ts'

/** A second process of the same installation. */
let twin: TestApp

const { service, admin, project } = useProject()
beforeAll(async () => {
  twin = await startTestApp({ database: service.database })
})
afterAll(async () => {
  await twin.close()
})

type Item = Record<
  | 'name'
  | 'version'
  | 'link'
  | 'hash'
  | 'signature'
  | 'keyId'
  | 'spec'
  | 'integrity'
  | 'statement'
  | 'statementSignature',
  string
>

const shared = ({ applicationId }: SeededProject): string => `/pilet-feed/${applicationId}`
const inTenant = (of: SeededProject): string => `${shared(of)}/${of.tenantId}`
const itemsAt = async (path: string, app: TestApp = service): Promise<Item[]> => {
  const { status, body } = await requestThroughProxy(app, path)
  expect([path, status]).toEqual([path, 200])
  const { items, ...rest } = JSON.parse(body) as { items: Item[] }
  expect(rest).toEqual({})
  return items
}
const versionsAt = async (path: string, app: TestApp = service): Promise<string[]> =>
  (await itemsAt(path, app)).map(({ name, version }) => `${name} ${version}`)
const packagesOf = (name: string, ...versions: string[]) => versions.map((version) => ({ name, version }))
const enable = (of: SeededProject, name: string, version: string, enabled: boolean) =>
  service.sql.query(
    'update pilet_packages set enabled = $4 where project_id = $1 and name = $2 and version = $3',
    [of.id, name, version, enabled],
  )

describe('the items of a feed', () => {
  test('[pilet-feed.items] [pilet-feed.spec] have every field, and the secret alone opens the feed', async () => {
    const { id, applicationId } = project
    const bytes = Buffer.from('//@pilet v:3\nexport default 1\n')
    const hash = sha256(bytes)
    const about = { projectId: id, name: '@acme/menu', version: '1.2.3-rc.1+b.5', hash }
    const signature = await signingOf(service).sign(bytes, about)
    await addPackages(service.sql, id, [
      { name: '@acme/menu', version: '1.2.3-rc.1+b.5', bytes, spec: 'v3', signature },
    ])
    await setLayer(service.sql, project, 'application', { modules: ['@acme/menu'] })
    const item = {
      name: '@acme/menu',
      version: '1.2.3-rc.1+b.5',
      link: `/pilet-bundle/${applicationId}/${id}/%40acme%2Fmenu/1.2.3-rc.1%2Bb.5`,
      hash,
      signature: signature.signature.toString('base64'),
      keyId: signature.keyId,
      spec: 'v3',
      integrity: `sha256-${createHash('sha256').update(bytes).digest('base64')}`,
      statement: `{"svcPiletStatement":1,"project":"${id}","name":"@acme/menu","version":"1.2.3-rc.1+b.5","hash":"${hash}"}`,
      statementSignature: signature.statementSignature.toString('base64'),
    }
    for (const path of [shared(project), inTenant(project)]) {
      expect(await itemsAt(path)).toEqual([item])
      await expectSecretOnly(service, path, admin.id)
    }
    expect(await itemsAt(`/pilet-feed/${applicationId.toUpperCase()}`)).toEqual([item])
  })

  test('[pilet-feed.signature] [pilet-feed.key-id] a signature verifies against the key it names', async () => {
    const signed = await seedProject(service.sql, 'signed')
    const signing = signingOf(service)
    const contents = Array.from({ length: 3 }, (_, n) => Buffer.from(`content ${n}`.repeat(n * 1_000)))
    const packages = []
    for (const [n, bytes] of contents.entries()) {
      const about = { projectId: signed.id, name: `p${n}`, version: '1.0.0' }
      const signature = await signing.sign(bytes, { ...about, hash: sha256(bytes) })
      packages.push({ ...about, bytes, signature })
    }
    await addPackages(service.sql, signed.id, packages)
    await setLayer(service.sql, signed, 'project', { modules: ['p0', 'p1', 'p2'] })
    const keys = JSON.parse((await requestThroughProxy(service, `/pilet-keys/${signed.applicationId}`)).body)
    for (const { link, signature, keyId, statement, statementSignature } of await itemsAt(shared(signed))) {
      const raw = Buffer.from(keys[keyId] as string, 'base64')
      expect(raw).toHaveLength(32)
      expect(keyId).toBe(sha256(raw).slice(0, 16))
      const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw])
      const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
      const bytes = Buffer.from((await requestThroughProxy(service, link)).body)
      expect(verify(null, bytes, key, Buffer.from(signature, 'base64'))).toBe(true)
      expect(verify(null, Buffer.concat([bytes, raw]), key, Buffer.from(signature, 'base64'))).toBe(false)
      const isStated = (text: string): boolean =>
        verify(null, Buffer.from(text), key, Buffer.from(statementSignature, 'base64'))
      expect([isStated(statement), isStated(statement.replace('p', 'q'))]).toEqual([true, false])
    }
  })

  test('[pilet-feed.unsigned] a package without a signature has neither it nor a key', async () => {
    const legacy = await seedProject(service.sql, 'legacy')
    await addPackages(service.sql, legacy.id, packagesOf('old', '1.0.0'))
    await setLayer(service.sql, legacy, 'project', { modules: ['old'] })
    const [item] = await itemsAt(shared(legacy))
    expect(Object.keys(item ?? {})).toEqual(['name', 'version', 'link', 'hash', 'spec', 'integrity'])
  })

  test('[pilet-feed.signature] a statement is shown only while its key is that of the signature, and at once', async () => {
    const stated = await seedProject(service.sql, 'stated')
    const bytes = Buffer.from('stated')
    const about = { projectId: stated.id, name: 'menu', version: '1.0.0', hash: sha256(bytes) }
    const { statementSignature, statementKeyId, ...signature } = await signingOf(service).sign(bytes, about)
    await addPackages(service.sql, stated.id, [{ name: 'menu', version: '1.0.0', bytes, signature }])
    await setLayer(service.sql, stated, 'project', { modules: ['menu'] })
    const [before] = await itemsAt(shared(stated))
    expect([before?.signature, before?.statement, before?.statementSignature]).toEqual([
      signature.signature.toString('base64'),
      undefined,
      undefined,
    ])
    const etag = etagOf(await requestThroughProxy(service, shared(stated)))
    const state = (keyId: string) =>
      service.sql.query(
        'update pilet_packages set statement_signature = $2, statement_key_id = $3 where project_id = $1',
        [stated.id, statementSignature, keyId],
      )
    // Simulates an older release that has since replaced the signature.
    await state('0123456789abcdef')
    expect((await itemsAt(shared(stated)))[0]?.statement).toBeUndefined()
    await state(statementKeyId)
    for (const app of [service, twin])
      expect((await itemsAt(shared(stated), app))[0]?.statementSignature).toBe(
        statementSignature.toString('base64'),
      )
    expect(etagOf(await requestThroughProxy(service, shared(stated)))).not.toBe(etag)
  })

  test('[pilet-feed.filter] are enabled packages of the project that its modules name', async () => {
    const [mine, other] = [await seedProject(service.sql, 'mine'), await seedProject(service.sql, 'theirs')]
    await addPackages(service.sql, mine.id, [
      ...packagesOf('listed', '1.0.0'),
      ...packagesOf('unlisted', '1.0.0'),
      { name: 'disabled', version: '1.0.0', enabled: false },
    ])
    await addPackages(service.sql, other.id, packagesOf('foreign', '1.0.0'))
    expect(await versionsAt(shared(mine))).toEqual([])
    await setLayer(service.sql, mine, 'application', {
      modules: ['listed', 'disabled', 'foreign', 'unknown', 'LISTED', 'no package name!', ' listed', '%'],
    })
    for (const path of [shared(mine), inTenant(mine)])
      expect(await versionsAt(path)).toEqual(['listed 1.0.0'])
    expect(await versionsAt(shared(other))).toEqual([])
    await enable(mine, 'disabled', '1.0.0', true)
    expect(await versionsAt(shared(mine))).toEqual(['disabled 1.0.0', 'listed 1.0.0'])
  })

  test('[pilet-feed.highest] one for each name, in order, in the highest enabled version', async () => {
    const many = await seedProject(service.sql, 'many')
    await addPackages(service.sql, many.id, [
      ...packagesOf('b', '1.9.0', '1.10.0', '1.2.30', '0.99.99', '2.0.0-rc.1', '1.10.0-z'),
      ...packagesOf('@z/a', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-beta.2', '1.0.0-beta.11', '1.0.0-9'),
      ...packagesOf('a-b', '3.0.0', '3.0.0+later.build'),
      ...packagesOf('a', '10.0.0', '9.9.9'),
      ...packagesOf('a.b', '1.0.0'),
    ])
    await setLayer(service.sql, many, 'project', { modules: ['b', 'a', '@z/a', 'a.b', 'a-b'] })
    const others = ['a 10.0.0', 'a-b 3.0.0+later.build', 'a.b 1.0.0']
    expect(await versionsAt(shared(many))).toEqual(['@z/a 1.0.0-beta.11', ...others, 'b 1.10.0'])
    const steps = ['1.9.0', '1.2.30', '0.99.99', '2.0.0-rc.1', '1.10.0-z']
    for (const [index, disabled] of ['1.10.0', ...steps.slice(0, -1)].entries()) {
      await enable(many, 'b', disabled, false)
      for (const path of [shared(many), inTenant(many)])
        expect((await versionsAt(path)).at(-1)).toBe(`b ${steps[index]}`)
    }
    await enable(many, 'b', '1.10.0-z', false)
    expect(await versionsAt(shared(many))).toEqual(['@z/a 1.0.0-beta.11', ...others])
  })
})

describe('the feed of a tenant', () => {
  test('[pilet-feed.tenant] [pilet-feed.pins] has the versions it pins; a pin that is missing or disabled drops the item', async () => {
    const pinned = await seedProject(service.sql, 'pinned')
    await addPackages(service.sql, pinned.id, [
      ...packagesOf('menu', '1.0.0', '2.0.0', '3.0.0-rc.1'),
      ...packagesOf('@acme/cart', '1.0.0', '1.1.0'),
      ...packagesOf('unlisted', '1.0.0'),
    ])
    await setLayer(service.sql, pinned, 'project', { modules: ['menu', '@acme/cart'] })
    const pin = (pins: object, layer: Parameters<typeof setLayer>[2] = 'tenant') =>
      setLayer(service.sql, pinned, layer, { pairs: { a: 'b', 'pilets.pins': JSON.stringify(pins) } })
    const tenant = () => versionsAt(inTenant(pinned))
    const highest = ['@acme/cart 1.1.0', 'menu 2.0.0']
    expect(await tenant()).toEqual(highest)
    await pin({ menu: '1.0.0', unlisted: '1.0.0' })
    expect(await tenant()).toEqual(['@acme/cart 1.1.0', 'menu 1.0.0'])
    await pin({ menu: '3.0.0-rc.1', '@acme/cart': '1.0.0' })
    expect(await tenant()).toEqual(['@acme/cart 1.0.0', 'menu 3.0.0-rc.1'])
    await pin({ menu: '9.9.9' })
    expect(await tenant()).toEqual(['@acme/cart 1.1.0'])
    await pin({ menu: '1.0.0' })
    await enable(pinned, 'menu', '1.0.0', false)
    expect(await tenant()).toEqual(['@acme/cart 1.1.0'])
    // The most specific layer that has the key provides the whole value, even if it pins nothing.
    await pin({ '@acme/cart': '1.0.0' }, 'tenant2application')
    expect(await tenant()).toEqual(['@acme/cart 1.0.0', 'menu 2.0.0'])
    await pin({}, 'tenant2application')
    expect(await tenant()).toEqual(highest)
    // The shared feed ignores pins in every layer.
    await pin({ menu: '9.9.9' }, 'application')
    await pin({ menu: '9.9.9' }, 'project')
    expect(await versionsAt(shared(pinned))).toEqual(highest)
    expect(await tenant()).toEqual(highest)
  })

  test('[pilet-feed.pins] malformed pins are refused on save; what was never checked pins nothing and harms nobody', async () => {
    const odd = await seedProject(service.sql, 'odd-pins')
    await addPackages(service.sql, odd.id, packagesOf('menu', '1.0.0'))
    await setLayer(service.sql, odd, 'project', { modules: ['menu'] })
    const { data } = await service.query(admin, 'query($id: ID!) { settings(tenant: $id) { id } }', {
      id: odd.tenantId,
    })
    const save = (Value: string) =>
      service.query(
        admin,
        `mutation($id: ID!, $input: UpdateFrontendModuleConfigInput!) {
          updateFrontendModuleConfig(id: $id, input: $input) { id } }`,
        { id: data.settings.id, input: { KeyValuePairs: [{ Key: 'pilets.pins', Value }] } },
      )
    for (const value of ['', 'x', '[]', '{"menu": 1}', '{"menu": "^1.0.0"}', '{"NO": "1.0.0"}'])
      expect((await save(value)).error).toMatch(/^pilets\.pins /)
    expect((await save('{"menu": "1.0.0"}')).error).toBeNull()
    const values = [
      '',
      'x',
      '[]',
      '"menu"',
      'null',
      '{"menu": "\\u0000"}',
      '{"other": 1e999999}',
      '['.repeat(60_000),
    ]
    for (const value of values) {
      await setLayer(service.sql, odd, 'tenant', { pairs: { 'pilets.pins': value } })
      const both = await Promise.all([versionsAt(inTenant(odd)), versionsAt(inTenant(project))])
      expect([value.slice(0, 30), both[0]]).toEqual([value.slice(0, 30), ['menu 1.0.0']])
    }
    for (const value of ['{"menu": null}', '{"menu": 1}', '{"menu": {}}']) {
      await setLayer(service.sql, odd, 'tenant', { pairs: { 'pilets.pins': value } })
      expect(await versionsAt(inTenant(odd))).toEqual([])
    }
  })

  test('[pilet-feed.tenant] is not found where the application is not enabled for the tenant', async () => {
    const [house, other] = [await seedProject(service.sql, 'house'), await seedProject(service.sql, 'other')]
    const text = 'the application is not enabled for this tenant'
    for (const tenant of [other.tenantId, house.id, randomUUID(), 'nothing', '%00', '*'])
      expectNotFound(await requestThroughProxy(service, `${shared(house)}/${tenant}`), text)
    for (const application of [other.applicationId, house.id, randomUUID(), 'x', '%00'])
      expectNotFound(await requestThroughProxy(service, `/pilet-feed/${application}/${house.tenantId}`), text)
    const switchTo = (enabled: boolean) =>
      service.sql.query('update tenant2applications set enabled = $2 where id = $1', [
        house.tenant2ApplicationId,
        enabled,
      ])
    for (const enabled of [false, true, false, true]) {
      await switchTo(enabled)
      for (const app of [service, twin])
        expect((await requestThroughProxy(app, inTenant(house))).status).toBe(enabled ? 200 : 404)
    }
  })
})

describe('every feed', () => {
  test('[pilet-feed.cache] has a validator and is asked for again before it is used', async () => {
    for (const path of [shared(project), inTenant(project)]) await expectRevalidates(service, path)
    const before = etagOf(await requestThroughProxy(service, shared(project)))
    await addPackages(service.sql, project.id, packagesOf('@acme/menu', '2.0.0'))
    expect(etagOf(await requestThroughProxy(service, shared(project)))).not.toBe(before)
  })

  test('of an unknown application is not found', async () => {
    const { id, tenantId, applicationId } = project
    for (const unknown of [randomUUID(), id, tenantId, 'nothing', '%00', `${applicationId}0`, '*'])
      expectNotFound(await requestThroughProxy(service, `/pilet-feed/${unknown}`), 'application not found')
  })

  test('every change of what it is made of is seen by the next request, at every process', async () => {
    const changing = await seedProject(service.sql, 'changing')
    await addPackages(service.sql, changing.id, [...packagesOf('a', '1.0.0'), ...packagesOf('b', '1.0.0')])
    const expectEverywhere = async (...wanted: string[]) => {
      for (const app of [service, twin]) expect(await versionsAt(inTenant(changing), app)).toEqual(wanted)
    }
    await expectEverywhere()
    for (const layer of ['project', 'application', 'tenant', 'tenant2application'] as const)
      for (const [modules, wanted] of [
        [['a'], ['a 1.0.0']],
        [['b'], ['b 1.0.0']],
      ] as const) {
        await setLayer(service.sql, changing, layer, { modules })
        await expectEverywhere(...wanted)
      }
    await addPackages(service.sql, changing.id, packagesOf('b', '1.1.0'))
    await expectEverywhere('b 1.1.0')
    await enable(changing, 'b', '1.1.0', false)
    await expectEverywhere('b 1.0.0')
    await service.sql.query('delete from pilet_packages where project_id = $1 and name = $2', [
      changing.id,
      'b',
    ])
    await expectEverywhere()
    await service.sql.query('delete from applications where id = $1', [changing.applicationId])
    for (const app of [service, twin])
      expectNotFound(await requestThroughProxy(app, shared(changing)), 'application not found')
  })
})
