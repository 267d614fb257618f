// These tests check that bytes in the database and bytes in a bucket behave in the same way: callers cannot
// distinguish the stores.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf, proxySecret } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { sha256Of } from '../../../test/kit/blobs.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { createScratchDatabase } from '../../../test/kit/databases.ts'
import { startBlackholeProxy } from '../../../test/kit/blackhole-proxy.ts'
import { setLayer } from '../../../test/kit/pilet-rows.ts'
import { callPilets, piletPath, uploadPilet } from '@manager/harness/pilets.ts'
import { type Bucket, createBucket } from '../../../test/kit/s3.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { storeNames } from '../../platform/blobs/blob-store.ts'

let bucket: Bucket
beforeAll(async () => {
  bucket = await createBucket()
})
afterAll(() => bucket.close())

const download = async (service: TestApp, person: Person, path: string, method = 'GET') => {
  const response = await fetch(service.url + path, { method, headers: headersOf(person) })
  return {
    status: response.status,
    bytes: Buffer.from(await response.arrayBuffer()),
    headers: response.headers,
  }
}
/** Loads a path as the proxy does for browsers. */
const load = (service: TestApp, path: string): Promise<Response> =>
  fetch(service.url + path, { headers: { 'x-proxy-auth': proxySecret } })
/** Returns how often damaged bytes were detected. */
const damaged = async ({ world }: TestApp, store: string): Promise<number> => {
  const { values } = await world.metrics.damagedBlobs.get()
  return values.find(({ labels }) => labels['store'] === store)?.value ?? 0
}
const chunks = async (service: TestApp): Promise<number> =>
  (await service.sql.query('select from blob_chunks')).rowCount ?? 0

describe.each(storeNames)('pilets in the store %s', (store) => {
  let service: TestApp
  let project: SeededProject
  let developer: Person
  beforeAll(async () => {
    service = await startTestApp({ env: { ...bucket.env, SVC_PILETS_STORE: store } })
    project = await seedProject(service.sql, 'main')
    developer = await seedUser(service.sql, 'developer')
    await seedMember(service.sql, developer, 'developer', { projectId: project.id })
  })
  afterAll(() => service.close())

  test('are uploaded, listed, downloaded and disabled in the same way [pilets.store]', async () => {
    const bytes = randomBytes(700_000)
    const pilet = { projectId: project.id, name: '@acme/menu', version: '1.0.0', bytes }
    const before = await bucket.keys()
    const uploaded = await uploadPilet(service, developer, pilet)
    expect(uploaded).toMatchObject({ status: 200, body: { size: 700_000, hash: sha256Of(bytes) } })
    expect((await bucket.keys()).length - before.length).toBe(store === 's3' ? 1 : 0)
    expect(await chunks(service)).toBe(store === 's3' ? 0 : 3)

    expect(await uploadPilet(service, developer, { ...pilet, bytes: 'other' })).toMatchObject({ status: 409 })
    const got = await download(service, developer, piletPath(pilet))
    expect([got.status, got.bytes.equals(bytes)]).toEqual([200, true])
    expect(Object.fromEntries(got.headers)).toMatchObject({
      'content-length': '700000',
      'content-type': 'application/javascript',
      'x-pilet-hash': sha256Of(bytes),
      'cache-control': 'public, max-age=31536000, immutable',
    })
    expect((await download(service, developer, piletPath(pilet), 'HEAD')).status).toBe(200)

    await setLayer(service.sql, project, 'application', { modules: ['@acme/menu'] })
    const { items } = (await (await load(service, `/pilet-feed/${project.applicationId}`)).json()) as {
      items: { link: string; hash: string }[]
    }
    expect(items).toMatchObject([{ hash: sha256Of(bytes) }])
    const bundle = await load(service, items[0]?.link ?? '')
    expect(sha256Of(Buffer.from(await bundle.arrayBuffer()))).toBe(sha256Of(bytes))

    expect(await callPilets(service, developer, piletPath(pilet), { method: 'DELETE' })).toMatchObject({
      status: 200,
    })
    const list = JSON.parse((await callPilets(service, developer, `/pilets/${project.id}`)).text) as object
    expect(list).toMatchObject({ count: 1, packages: [{ hash: sha256Of(bytes), enabled: false }] })
  })

  test('keep the same bytes once [pilets.store]', async () => {
    const bytes = randomBytes(1_000)
    const before = [(await bucket.keys()).length, await chunks(service)]
    const named = (name: string) => ({ projectId: project.id, name, version: '1.0.0', bytes })
    for (const name of ['one', 'two'])
      expect((await uploadPilet(service, developer, named(name))).status).toBe(200)
    const after = [(await bucket.keys()).length, await chunks(service)]
    expect(after.map((count, index) => count - (before[index] ?? 0))).toEqual(
      store === 's3' ? [1, 0] : [0, 1],
    )
    for (const name of ['one', 'two'])
      expect((await download(service, developer, piletPath(named(name)))).bytes.equals(bytes)).toBe(true)
  })

  test('whose bytes were changed in their store are found, and never served', async () => {
    const bytes = randomBytes(1_000)
    const pilet = { projectId: project.id, name: 'changed', version: '1.0.0', bytes }
    await uploadPilet(service, developer, pilet)
    await setLayer(service.sql, project, 'application', { modules: ['changed'] })
    const wrong = Buffer.from(bytes).fill(0, 500, 510)
    if (store === 'postgres')
      await service.sql.query('update blob_chunks set bytes = $2 where sha256 = $1', [sha256Of(bytes), wrong])
    else await bucket.replace(sha256Of(bytes), wrong)
    const link = `/pilet-bundle/${project.applicationId}/${project.id}/changed/1.0.0`
    for (const answer of [
      await load(service, link),
      await fetch(service.url + piletPath(pilet), { headers: headersOf(developer) }),
    ]) {
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([500, 'no-store'])
      expect(await answer.json()).toMatchObject({
        error: 'the stored bundle is damaged; upload it again under a new version',
      })
    }
  })

  test('that are damaged in their store are answered 500, never with the wrong bytes', async () => {
    const bytes = randomBytes(1_000)
    const pilet = { projectId: project.id, name: 'damaged', version: '1.0.0', bytes }
    await uploadPilet(service, developer, pilet)
    // The bytes are deleted and the generation is changed, so that the process cannot use its cache.
    await service.sql.query('update blobs set generation = gen_random_uuid() where sha256 = $1', [
      sha256Of(bytes),
    ])
    await service.sql.query('delete from blob_chunks where sha256 = $1', [sha256Of(bytes)])
    const before = await damaged(service, store)
    const { status, bytes: body, headers } = await download(service, developer, piletPath(pilet))
    expect([status, headers.get('cache-control')]).toEqual([500, 'no-store'])
    expect(body.includes(bytes)).toBe(false)
    expect(await damaged(service, store)).toBe(before + 1)
    // Uploading the same bytes under a different version repairs both versions.
    expect((await uploadPilet(service, developer, { ...pilet, version: '1.0.1' })).status).toBe(200)
    expect((await download(service, developer, piletPath(pilet))).bytes.equals(bytes)).toBe(true)
  })
})

test('pilets stay where they were stored when the setting changes [pilets.store]', async () => {
  const database = await createScratchDatabase()
  const bytes = { postgres: randomBytes(1_000), s3: randomBytes(1_000) }
  let project: SeededProject | null = null
  let developer: Person = { id: '' }
  for (const store of ['postgres', 's3', 'postgres'] as const) {
    const service = await startTestApp({ database, env: { ...bucket.env, SVC_PILETS_STORE: store } })
    if (project === null) {
      project = await seedProject(service.sql, 'main')
      developer = await seedUser(service.sql, 'developer')
      await seedMember(service.sql, developer, 'developer', { projectId: project.id })
    }
    const pilet = { projectId: project.id, name: store, version: '1.0.0', bytes: bytes[store] }
    expect((await uploadPilet(service, developer, pilet)).status).toBeOneOf([200, 409])
    const { rows } = await service.sql.query<{ name: string; store: string }>(
      'select p.name, b.store from pilet_packages p join blobs b on b.sha256 = p.hash',
    )
    for (const { name, store: kept } of rows) {
      expect(kept).toBe(name)
      const path = piletPath({ projectId: project.id, name, version: '1.0.0' })
      expect((await download(service, developer, path)).bytes.equals(bytes[kept as 's3'])).toBe(true)
    }
    await service.close()
  }
  await database.drop()
})

test('with the bucket away uploads and cold bundles are answered 503 with `Retry-After`, and warm ones are served', async () => {
  const { port, hostname } = new URL(bucket.settings.endpoint)
  const proxy = await startBlackholeProxy({ host: hostname, port: Number(port) })
  const endpoint = `http://127.0.0.1:${proxy.port}`
  const env = { ...bucket.env, SVC_PILETS_STORE: 's3', SVC_PILETS_S3_ENDPOINT: endpoint }
  const service = await startTestApp({ env })
  const project = await seedProject(service.sql, 'main')
  const developer = await seedUser(service.sql, 'developer')
  await seedMember(service.sql, developer, 'developer', { projectId: project.id })
  const upload = (name: string) =>
    uploadPilet(service, developer, { projectId: project.id, name, version: '1.0.0', bytes: `// ${name}` })
  const bundle = (name: string) =>
    load(service, `/pilet-bundle/${project.applicationId}/${project.id}/${name}/1.0.0`)
  for (const name of ['warm', 'cold']) expect((await upload(name)).status).toBe(200)
  await setLayer(service.sql, project, 'application', { modules: ['warm', 'cold'] })
  expect((await bundle('warm')).status).toBe(200)
  proxy.retarget(await freePort())
  proxy.reset()
  expect(await (await bundle('warm')).text()).toBe('// warm')
  const late = await upload('late')
  for (const { status, headers } of [await bundle('cold'), late])
    expect([status, headers.get('retry-after'), headers.get('cache-control')]).toEqual([503, '1', 'no-store'])
  proxy.retarget(Number(port))
  expect(await (await bundle('cold')).text()).toBe('// cold')
  expect((await upload('late')).status).toBe(200)
  await service.close()
  await proxy.close()
})
