// These tests cover packages over REST: lists, downloads, and deletions, which only disable a version.
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { chainRows } from '../../../test/kit/audit-rows.ts'
import { bearer, createToken } from '@manager/harness/credentials.ts'
import { callPilets, piletPath, uploadPilet } from '@manager/harness/pilets.ts'
import { seedPilet } from '../../../test/kit/seeded-pilets.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, project, other, person, member, admin } = useProject({ withOther: true })
const sha256 = (bytes: string): string => createHash('sha256').update(bytes).digest('hex')

let [developer, tester, reader, stranger] = [{} as Person, {} as Person, {} as Person, {} as Person]
beforeAll(async () => {
  developer = await member('developer', 'developer')
  tester = await member('tester', 'tester')
  reader = await member('reader', 'readonly')
  stranger = await person('stranger')
})

const upload = async (name: string, version: string, more: { bytes?: string; query?: string } = {}) =>
  (await uploadPilet(service, developer, { projectId: project.id, name, version, ...more })).body
const pathOf = (name: string, version = '1.0.0', projectId = project.id): string =>
  piletPath({ projectId, name, version })
const list = async (query = '', projectId = project.id) => {
  const { status, text, headers } = await callPilets(service, reader, `/pilets/${projectId}${query}`)
  return { status, headers, body: JSON.parse(text) }
}
const download = (name: string, headers: Record<string, string> = {}, method = 'GET') =>
  callPilets(service, reader, pathOf(name), { headers, method })

describe('the list', () => {
  test('[pilets.list] [pilets.item] is by name, then by precedence, and counts what it lists', async () => {
    expect((await list()).body).toEqual({ packages: [], count: 0 })
    for (const version of ['1.10.0', '1.2.0', '1.2.0-rc.1']) await upload('menu', version)
    const first = await upload('@acme/menu', '1.0.0', { query: '?description=the%20menu&enabled=false' })
    const { status, body, headers } = await list()
    expect([status, headers.get('cache-control'), body.count]).toEqual([200, 'no-store', 4])
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
    expect(body.packages[0]).toEqual({
      id: first.id,
      name: '@acme/menu',
      version: '1.0.0',
      description: 'the menu',
      size: first.size,
      hash: first.hash,
      enabled: false,
      created_at: at,
      updated_at: at,
    })
    const shown = (packages: { name: string; version: string }[]) =>
      packages.map(({ name, version }) => `${name} ${version}`)
    expect(shown(body.packages).slice(1)).toEqual(['menu 1.2.0-rc.1', 'menu 1.2.0', 'menu 1.10.0'])
    const disabled = (await list('?enabled=false')).body
    expect([shown(disabled.packages), disabled.count]).toEqual([['@acme/menu 1.0.0'], 1])
    expect((await list('?enabled=true')).body.count).toBe(3)
    expect((await list('?enabled=yes')).status).toBe(400)
  })

  test('[pilets.list] has all packages, however many there are, and none of another project', async () => {
    const owner = await person('owner')
    await service.sql.query(
      "insert into user2projects (id, project_id, user_id, role) values (gen_random_uuid(), $1, $2, 'owner')",
      [other.id, owner.id],
    )
    await seedPilet(service.sql, other, { name: 'many', version: '0.0.1', bytes: 'many' })
    await service.sql.query(
      `insert into pilet_packages (id, project_id, name, version, precedence, is_stable, content_type, size, hash, spec, enabled)
       select gen_random_uuid(), project_id, name, '1.0.' || n, to_char(n, 'FM00000'), true, content_type, size, hash, spec, n % 2 = 0
       from pilet_packages, generate_series(1, 1501) n where project_id = $1`,
      [other.id],
    )
    const answer = await callPilets(service, owner, `/pilets/${other.id}`)
    const { packages, count } = JSON.parse(answer.text)
    expect([packages.length, count, new Set(packages.map(({ id }: { id: string }) => id)).size]).toEqual([
      1_502, 1_502, 1_502,
    ])
    const head = await callPilets(service, owner, `/pilets/${other.id}?enabled=true`, { method: 'HEAD' })
    expect([head.status, head.text]).toEqual([200, ''])
    expect((await list()).body.count).toBe(4)
  })
})

describe('a download', () => {
  test('[pilets.download] [pilets.download-cache] [pilets.download-type] has the exact bytes and what describes them', async () => {
    const bytes = '//@pilet v:2\nexport const ä = "\u0000"'
    await upload('@acme/download', '1.0.0', { bytes })
    const { status, text, headers } = await download('@acme/download')
    expect([status, text]).toEqual([200, bytes])
    const hash = sha256(bytes)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/javascript',
      'content-length': String(Buffer.byteLength(bytes)),
      'x-pilet-hash': hash,
      etag: `"${hash}"`,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'Authorization, Cookie, X-Token-Subject',
    })
  })

  test('[pilets.download-conditional] is answered 304 when it is known, and HEAD without its bytes', async () => {
    const { hash, size } = await upload('conditional', '1.0.0')
    await service.sql.query('update blob_chunks set bytes = $2 where sha256 = $1', [
      hash,
      Buffer.from('damaged'),
    ])
    for (const known of [`"${hash}"`, `W/"${hash}"`, '*', `"x", "${hash}"`]) {
      const answer = await download('conditional', { 'if-none-match': known })
      expect([known, answer.status, answer.text, answer.headers.get('etag')]).toEqual([
        known,
        304,
        '',
        `"${hash}"`,
      ])
    }
    const head = await download('conditional', {}, 'HEAD')
    expect([
      head.status,
      head.text,
      head.headers.get('content-length'),
      head.headers.get('x-pilet-hash'),
    ]).toEqual([200, '', String(size), hash])
  })

  test('[pilets.download-conditional] bytes that are not what was uploaded are not sent: 500, not stored by caches', async () => {
    const { hash } = await upload('damaged', '1.0.0', { bytes: 'whole' })
    await service.sql.query('update blob_chunks set bytes = $2 where sha256 = $1', [
      hash,
      Buffer.from('other'),
    ])
    const answer = await download('damaged')
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([500, 'no-store'])
    expect(answer.text).not.toContain('other')
  })

  test('[pilets.download-conditional] of what does not exist is 404 and no-store', async () => {
    await upload('exists', '1.0.0')
    for (const path of [pathOf('exists', '1.0.1'), pathOf('exists', 'latest'), pathOf('unknown')]) {
      const { status, headers, text } = await callPilets(service, reader, path)
      expect([path, status, JSON.parse(text).error]).toEqual([path, 404, 'package not found'])
      expect([headers.get('cache-control'), headers.get('vary')]).toEqual([
        'no-store',
        'Authorization, Cookie, X-Token-Subject',
      ])
    }
  })

  test('does not depend on headers that caches do not know', async () => {
    await upload('poison', '1.0.0', { bytes: 'clean' })
    for (const headers of [
      { 'x-forwarded-host': 'evil.example' },
      { 'x-original-url': '/health' },
      { range: 'bytes=0-1' },
      { accept: 'text/html' },
      { 'accept-encoding': 'gzip' },
    ]) {
      const answer = await download('poison', Object.fromEntries(Object.entries(headers)))
      expect([answer.status, answer.text]).toEqual([200, 'clean'])
      expect(JSON.stringify([...answer.headers])).not.toContain('evil')
    }
    expect((await callPilets(service, reader, `${pathOf('poison')}?x=y`)).text).toBe('clean')
  })
})

describe('a deletion', () => {
  test('[pilets.delete] [pilets.audited] only disables, is audited once, and again changes nothing', async () => {
    const { id } = await upload('deleted', '1.0.0', { bytes: 'stays' })
    const rows = async () =>
      (await chainRows(service, project.id)).filter(({ entity_id }) => entity_id === id)
    for (const method of ['DELETE', 'DELETE']) {
      const { status, text, headers } = await callPilets(service, tester, pathOf('deleted'), { method })
      expect([status, JSON.parse(text)]).toEqual([200, { message: 'Package disabled' }])
      expect(headers.get('cache-control')).toBe('no-store')
    }
    expect(await rows()).toMatchObject([
      { action: 'create' },
      { action: 'update', user_id: tester.id, changes: { enabled: { before: true, after: false } } },
    ])
    expect((await download('deleted')).text).toBe('stays')
    const shown = (await list()).body.packages.find((one: { id: string }) => one.id === id)
    expect(shown.enabled).toBe(false)
    expect(
      (await uploadPilet(service, tester, { projectId: project.id, name: 'deleted', version: '1.0.0' }))
        .status,
    ).toBe(409)
  })

  test('[pilets.delete] of an unknown version is 404', async () => {
    const { status, text } = await callPilets(service, tester, pathOf('nothing'), { method: 'DELETE' })
    expect([status, JSON.parse(text).error]).toEqual([404, 'package not found'])
  })
})

describe('roles', () => {
  test('[pilets.roles] members list and download, testers upload and delete, others may do neither', async () => {
    await upload('roles', '1.0.0')
    const cases: [Person, number, number][] = [
      [stranger, 403, 403],
      [reader, 200, 403],
      [tester, 200, 200],
      [developer, 200, 200],
    ]
    for (const [index, [who, reads, writes]] of cases.entries()) {
      const name = `roles-${index}`
      expect((await callPilets(service, who, `/pilets/${project.id}`)).status).toBe(reads)
      expect((await callPilets(service, who, pathOf('roles'))).status).toBe(reads)
      expect(
        (await uploadPilet(service, who, { projectId: project.id, name, version: '1.0.0' })).status,
      ).toBe(writes)
      expect((await callPilets(service, who, pathOf('roles'), { method: 'DELETE' })).status).toBe(writes)
    }
    const { rows } = await service.sql.query(
      "select name from pilet_packages where name like 'roles-%' order by name",
    )
    expect(rows).toEqual([{ name: 'roles-2' }, { name: 'roles-3' }])
  })

  test('[pilets.roles] who is not a member gets the same 403 for every project and for none; administrators get 404 for none', async () => {
    const [unknown, malformed] = ['0199a000-0000-7000-8000-00000000dead', 'nothing']
    const calls = (who: Person, projectId: string) => [
      callPilets(service, who, `/pilets/${projectId}`),
      callPilets(service, who, pathOf('roles', '1.0.0', projectId)),
      callPilets(service, who, pathOf('roles', '1.0.0', projectId), { method: 'HEAD' }),
      callPilets(service, who, pathOf('roles', '1.0.0', projectId), { method: 'DELETE' }),
      uploadPilet(service, who, { projectId, name: 'roles-strange', version: '1.0.0' }),
    ]
    const statusesOf = async (who: Person, projectId: string): Promise<number[]> =>
      (await Promise.all(calls(who, projectId))).map(({ status }) => status)
    for (const projectId of [project.id, other.id, unknown, malformed])
      expect([projectId, await statusesOf(stranger, projectId)]).toEqual([
        projectId,
        [403, 403, 403, 403, 403],
      ])
    for (const projectId of [unknown, malformed])
      expect([projectId, await statusesOf(admin, projectId)]).toEqual([projectId, [404, 404, 404, 404, 404]])
    expect(await statusesOf(reader, other.id)).toEqual([403, 403, 403, 403, 403])
    const bodies = await Promise.all(
      [project.id, unknown].map(async (id) => {
        const { text, headers } = await callPilets(service, stranger, `/pilets/${id}`)
        const { request_id: _, ...body } = JSON.parse(text)
        return [body, headers.get('cache-control'), headers.get('vary')]
      }),
    )
    expect(bodies[0]).toEqual(bodies[1])
  })

  test('[pilets.roles] a personal access token acts as its owner', async () => {
    const token = await createToken(service, tester)
    const upload = { projectId: project.id, name: 'by-token', version: '1.0.0' }
    const headers = bearer(typeof token === 'string' ? token : (token as { token: string }).token)
    expect((await uploadPilet(service, { id: '' }, { ...upload, headers })).status).toBe(200)
    expect((await uploadPilet(service, { id: '' }, { ...upload, headers: bearer('pat_wrong') })).status).toBe(
      401,
    )
  })

  /** Uploads as a user whose role changes before the version is written. */
  const uploadWhileDemoted = async (name: string, from: 'tester' | 'developer', to: string) => {
    const leaver = await member(name, from)
    const lock = await service.sql.connect()
    await lock.query('begin')
    await lock.query('lock table pilet_signing_keys in access exclusive mode')
    const answer = uploadPilet(service, leaver, {
      projectId: project.id,
      name,
      version: '1.0.0',
      bytes: name,
    })
    await vi.waitFor(
      async () =>
        expect(
          (
            await service.sql.query(
              "select from pg_locks where not granted and relation = 'pilet_signing_keys'::regclass",
            )
          ).rowCount,
        ).toBe(1),
      { timeout: 20_000 },
    )
    await service.sql.query('update user2projects set role = $2 where user_id = $1', [leaver.id, to])
    await lock.query('commit')
    lock.release()
    return answer
  }

  test('[pilets.roles] who loses the role while the body arrives stores nothing', async () => {
    expect((await uploadWhileDemoted('left', 'tester', 'readonly')).status).toBe(403)
    const { rows } = await service.sql.query('select from blobs where sha256 = $1', [sha256('left')])
    expect(rows).toEqual([])
  })

  test('[pilets.roles] who loses the right to enable while the body arrives stores a disabled version', async () => {
    const { status, body } = await uploadWhileDemoted('demoted', 'developer', 'tester')
    expect([status, body.enabled]).toEqual([200, false])
    expect((await list('?enabled=false')).body.packages).toContainEqual(
      expect.objectContaining({ name: 'demoted', enabled: false }),
    )
  })
})
