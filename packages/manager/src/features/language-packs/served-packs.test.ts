// These tests cover GET /language-packs/:applicationId/:locale, which frontends use to load translations
// through the proxy.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { rawCall } from '../../../test/kit/http.ts'
import { languagePackCalls, pair } from '../../../test/kit/language-packs.ts'
import {
  type ProxyCall,
  requestThroughProxy,
  etagOf,
  expectNotFound,
  expectRevalidates,
  expectSecretOnly,
  secret,
  ifNoneMatch,
} from '../../../test/kit/cached-responses.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type SeededProject, seedProject } from '@manager/harness/seed.ts'

/** A second process of the same installation. */
let twin: TestApp

const { service, admin, project } = useProject()
beforeAll(async () => {
  twin = await startTestApp({ database: service.database })
  await make(admin, project.id, 'en', [
    pair('menu.file.open', 'Open'),
    pair('menu.file', 'File'),
    pair('hi', 'Hï 🙂'),
  ])
})
afterAll(async () => {
  await twin.close()
})

const { make, update, remove } = languagePackCalls(() => service)

const pathOf = (applicationId: string, locale: string): string => `/language-packs/${applicationId}/${locale}`
const ask = (applicationId: string, locale: string, call: ProxyCall = {}) =>
  requestThroughProxy(call.app ?? service, pathOf(applicationId, locale), call)
const get = async (of: SeededProject, locale: string, call: ProxyCall = {}) => {
  const answer = await ask(of.applicationId, locale, call)
  return { ...answer, pack: JSON.parse(answer.body) as { locale: string; messages: Record<string, unknown> } }
}
const expectNoPack = async (applicationId: string, locale: string, call: ProxyCall = {}): Promise<void> =>
  expectNotFound(await ask(applicationId, locale, call), 'language pack not found')

describe('a pack as a frontend loads it', () => {
  test('[language-packs.serve] [language-packs.leaf-and-branch] the secret alone opens it: locale, and messages with their dots expanded', async () => {
    const answer = await get(project, 'en')
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.pack).toEqual({
      locale: 'en',
      messages: { hi: 'Hï 🙂', menu: { file: { '': 'File', open: 'Open' } } },
    })
    const upper = await ask(project.applicationId.toUpperCase(), 'en')
    expect([upper.status, upper.body]).toEqual([200, answer.body])
  })

  test('[language-packs.serve] without the secret, or with another, nothing is said about packs', async () => {
    await expectSecretOnly(service, pathOf(project.applicationId, 'en'), admin.id)
  })

  test('[language-packs.serve] an empty pack is served with no messages', async () => {
    const empty = await seedProject(service.sql, 'empty')
    await make(admin, empty.id, 'de')
    expect((await get(empty, 'de')).pack).toEqual({ locale: 'de', messages: {} })
  })

  test('an address that is too long is refused without a line in the log, whoever sends it', async () => {
    const before = service.logLines.length
    for (const path of [
      `/language-packs/x/${'a'.repeat(601)}`,
      `/api/frontend-config/${'a'.repeat(2_000)}`,
    ]) {
      const answer = await fetch(`${service.url}${path}`)
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ error: 'the request is malformed' })
    }
    expect(service.logLines.slice(before)).toEqual([])
  })

  test('[language-packs.fallback] falls back at once while packs come and go, and never answers 404 for it', async () => {
    const busy = await seedProject(service.sql, 'busy')
    await make(admin, busy.id, 'de', [pair('a', 'of de')])
    const run = { isOver: false }
    const readers = Array.from({ length: 4 }, async () => {
      const statuses = new Set<number>()
      while (!run.isOver) statuses.add((await get(busy, 'de-AT')).status)
      return statuses
    })
    for (let i = 0; i < 25; i++)
      await remove(admin, await make(admin, busy.id, 'de-AT', [pair('a', 'of de-AT')]))
    run.isOver = true
    for (const statuses of await Promise.all(readers)) expect([...statuses]).toEqual([200])
  })

  test('[language-packs.serve] what is unknown or malformed is not found', async () => {
    const other = await seedProject(service.sql, 'other')
    await make(admin, other.id, 'fr', [pair('a', 'theirs')])
    const { applicationId } = project
    for (const locale of [
      'fr',
      'xx',
      'xx-YY',
      'e',
      'en_GB',
      'en--GB',
      '-',
      '*',
      '__proto__',
      'en%20',
      'en%00',
      '%F0%9F%99%82',
    ])
      await expectNoPack(applicationId, locale)
    for (const locale of ['en%0A', `en-${'a'.repeat(40)}`, `${'en-'.repeat(150)}en`, 'en%2F..%2Fen'])
      await expectNoPack(applicationId, locale)
    const ids = [
      randomUUID(),
      project.id,
      project.tenantId,
      'nothing',
      `${applicationId}0`,
      applicationId.slice(1),
    ]
    for (const id of [...ids, applicationId.replaceAll('-', ''), `%7B${applicationId}%7D`, "'", '%00', '*'])
      await expectNoPack(id, 'en')
  })

  test('every refusal may not be kept, whichever it is', async () => {
    const { applicationId } = project
    for (const [status, method, path] of [
      [404, 'GET', `/language-packs/${applicationId}/xx`],
      [400, 'GET', `/language-packs/${applicationId}/%zz`],
      [404, 'GET', `/language-packs/${applicationId}`],
      [404, 'GET', `/language-packs/${applicationId}/en/more`],
      [404, 'POST', `/language-packs/${applicationId}/en`],
      [404, 'DELETE', `/language-packs/${applicationId}/en`],
    ] as const) {
      const answer = await rawCall(service.url, { method, path, headers: [secret] })
      expect([path, answer.status, JSON.parse(answer.body)]).toEqual([
        path,
        status,
        expect.objectContaining({ error: expect.any(String) }),
      ])
      expect([answer.headers['cache-control'], answer.headers['etag']]).toEqual(['no-store', undefined])
    }
  })
})

describe('which pack a locale gets', () => {
  test('[language-packs.fallback] its own, else that of its language, else none', async () => {
    const places = await seedProject(service.sql, 'places')
    const text = async (locale: string) => (await get(places, locale)).pack
    const de = await make(admin, places.id, 'de', [pair('a', 'de')])
    const austria = await make(admin, places.id, 'de-AT', [pair('a', 'de-AT')])
    await make(admin, places.id, 'zh-Hant', [pair('a', 'zh-Hant')])
    await make(admin, places.id, 'en-GB', [pair('a', 'en-GB')])
    const german = { locale: 'de', messages: { a: 'de' } }
    const austrian = { locale: 'de-AT', messages: { a: 'de-AT' } }
    for (let round = 0; round < 2; round++) {
      for (const locale of ['de', 'de-DE', 'de-CH', 'de-1996', 'de-AT-1996'])
        expect(await text(locale)).toEqual(german)
      expect(await text('de-AT')).toEqual(austrian)
      // These locales do not fall back to a related locale, to a locale between themselves and their
      // language, or to a region.
      for (const locale of ['en', 'en-US', 'zh', 'zh-Hant-TW', 'zh-TW', 'deu', 'd', 'at', 'AT-de'])
        await expectNoPack(places.applicationId, locale)
    }
    // After the exact pack is deleted, requests fall back to the language immediately. After that pack is
    // deleted too, no pack is left.
    await remove(admin, austria)
    expect(await text('de-AT')).toEqual(german)
    await remove(admin, de)
    for (const locale of ['de-AT', 'de']) await expectNoPack(places.applicationId, locale)
    await make(admin, places.id, 'de-at', [pair('a', 'again')])
    expect(await text('de-AT')).toEqual({ locale: 'de-at', messages: { a: 'again' } })
    await expectNoPack(places.applicationId, 'de')
  })

  test('[language-packs.fallback] an empty pack of the locale itself is still the one', async () => {
    const half = await seedProject(service.sql, 'half')
    await make(admin, half.id, 'de', [pair('a', 'de')])
    await make(admin, half.id, 'de-CH')
    expect((await get(half, 'de-CH')).pack).toEqual({ locale: 'de-CH', messages: {} })
  })

  test('[language-packs.fallback] letter case does not matter; the answer names the locale as its pack does', async () => {
    const cases = await seedProject(service.sql, 'cases')
    await make(admin, cases.id, 'DE', [pair('a', 'language')])
    await make(admin, cases.id, 'sr-Latn-RS', [pair('a', 'exact')])
    const { body } = await get(cases, 'sr-Latn-RS')
    expect(JSON.parse(body)).toEqual({ locale: 'sr-Latn-RS', messages: { a: 'exact' } })
    for (const locale of ['SR-LATN-RS', 'sr-latn-rs', 'Sr-lATN-rS'])
      expect((await get(cases, locale)).body).toBe(body)
    for (const locale of ['de', 'De', 'dE-at', 'DE-AT'])
      expect((await get(cases, locale)).pack).toEqual({ locale: 'DE', messages: { a: 'language' } })
  })
})

describe('keeping a copy', () => {
  test('the answer has a validator, HEAD tells it too, and naming it is answered 304', async () => {
    await expectRevalidates(service, pathOf(project.applicationId, 'en'))
  })

  test('what is not there has no validator, whoever asks for it and how', async () => {
    for (const call of [ifNoneMatch('*'), ifNoneMatch(etagOf(await get(project, 'en')))])
      await expectNoPack(project.applicationId, 'xx', call)
    const head = await ask(project.applicationId, 'xx', { method: 'HEAD' })
    expect([head.status, head.body, head.headers['cache-control'], head.headers['etag']]).toEqual([
      404,
      '',
      'no-store',
      undefined,
    ])
  })

  test('a change of the content is seen by the next request, at every process, with another validator', async () => {
    const changing = await seedProject(service.sql, 'changing')
    const id = await make(admin, changing.id, 'de', [pair('a', 'first')])
    const first = etagOf(await get(changing, 'de'))
    for (let round = 0; round < 3; round++) {
      for (const app of [service, twin]) await get(changing, 'de', { app })
      await update(admin, id, [pair('a', `round ${round}`)])
      for (const app of [twin, service]) {
        const answer = await get(changing, 'de', { app, ...ifNoneMatch(first) })
        expect([answer.status, answer.pack.messages]).toEqual([200, { a: `round ${round}` }])
        expect(etagOf(answer)).not.toBe(first)
      }
    }
    // The content is the same as before, so the old ETag matches again.
    await update(admin, id, [pair('a', 'first')])
    for (const app of [twin, service])
      expect((await ask(changing.applicationId, 'de', { app, ...ifNoneMatch(first) })).status).toBe(304)
    await service.query(admin, 'mutation($id: ID!) { deleteApplication(id: $id) }', {
      id: changing.applicationId,
    })
    for (const app of [twin, service]) await expectNoPack(changing.applicationId, 'de', { app })
  })
})

describe('odd and large contents', () => {
  test('[language-packs.serve] names that mean something to JavaScript arrive as names and as nothing else', async () => {
    const hostile = await seedProject(service.sql, 'hostile')
    const names = [
      '__proto__',
      'constructor',
      'prototype',
      'hasOwnProperty',
      'toString',
      'toJSON',
      '0',
      'ä 日 🙂',
    ]
    // New keys like these are rejected, but packs that were stored before that check existed can contain such
    // keys.
    const id = await make(admin, hostile.id, 'de', [pair('a', 'x')])
    const content = [
      ...names.map((name) => pair(name, `text of ${name}`)),
      ...names.map((name) => pair(`${name}.polluted`, 'yes')),
      ...names.map((name) => pair(`constructor.prototype.${name}.polluted`, 'yes')),
      pair('__proto__.__proto__.polluted', 'yes'),
      pair('html', '</script><!-- "\\\u2028\n'),
    ]
    await service.sql.query('update language_packs set content = $2 where id = $1', [
      id,
      JSON.stringify(content),
    ])
    const { pack, headers, body } = await get(hostile, 'de')
    expect(headers['content-length']).toBe(String(Buffer.byteLength(body)))
    const { messages } = pack
    expect(Object.keys(messages).toSorted()).toEqual([...names, 'html'].toSorted())
    for (const name of names) {
      const branch = Object.getOwnPropertyDescriptor(messages, name)?.value as Record<string, unknown>
      expect([branch[''], branch['polluted']]).toEqual([`text of ${name}`, 'yes'])
    }
    const read = (path: string[]): unknown =>
      path.reduce<unknown>(
        (at, part) => Object.getOwnPropertyDescriptor(at, part)?.value as unknown,
        messages,
      )
    for (const name of names) expect(read(['constructor', 'prototype', name, 'polluted'])).toBe('yes')
    expect(read(['__proto__', '__proto__', 'polluted'])).toBe('yes')
    expect(read(['html'])).toBe('</script><!-- "\\\u2028\n')
    expect('polluted' in {}).toBe(false)
    // The service still serves other packs.
    expect((await get(project, 'en')).pack.messages).toMatchObject({ hi: 'Hï 🙂' })
  })

  test('[language-packs.serve] 10,000 keys with a megabyte of texts, some of them 20 parts deep, arrive complete', async () => {
    const large = await seedProject(service.sql, 'large')
    const content = Array.from({ length: 10_000 }, (_, index) =>
      pair(`area${index % 40}.page${index % 400}.label${index}`, `${index} `.padEnd(90, 'ü')),
    )
    for (const index of [3, 5_000, 9_999])
      content[index] = pair(`${'d.'.repeat(19)}${index % 10}`, `deep ${index}`)
    await make(admin, large.id, 'de', content)
    const { status, pack, body } = await get(large, 'de')
    expect(status).toBe(200)
    expect(Buffer.byteLength(body)).toBeGreaterThan(1_000_000)
    const leaves = (value: unknown): number =>
      typeof value === 'string'
        ? 1
        : Object.values(value as object).reduce((sum: number, one) => sum + leaves(one), 0)
    expect(leaves(pack.messages)).toBe(10_000)
    const wrong = content.filter(({ Key, Value }) => {
      const read = (at: unknown, part: string): unknown => (at as Record<string, unknown>)[part]
      return Key.split('.').reduce(read, pack.messages as unknown) !== Value
    })
    expect(wrong).toEqual([])
    await expectRevalidates(service, pathOf(large.applicationId, 'de'))
  })
})
