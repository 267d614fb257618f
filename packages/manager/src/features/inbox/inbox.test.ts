// These tests cover inbox pages, their items and the unread flag, requested through the proxy route.
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { addPastMonths, inboxCalls, seedNotifications } from '../../../test/kit/inbox.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember } from '@manager/harness/seed.ts'
import { encodeCursor } from './inbox-cursor.pure.ts'
import { maxScannedRows } from './inbox.store.ts'

const { service, project, person } = useProject()
const { list, unread } = inboxCalls(() => service)
beforeAll(() => addPastMonths(service.sql))

/** Creates a user with access to the application in the tenant. */
async function reader(name: string) {
  const added = await person(name)
  await seedMember(service.sql, added, 'member', { projectId: project.id, tenantId: project.tenantId })
  return added
}
type Listed = Awaited<ReturnType<typeof list>>
const idsOf = ({ body }: Listed): string[] => body.notifications.map(({ id }) => id)
const errorOf = ({ status, body }: { status: number; body: unknown }) => [
  status,
  (body as { error: string }).error,
]
/** Counts the statements of a request that shares no statements with other requests. */
async function statementsOf(ask: () => Promise<unknown>): Promise<number> {
  service.statements.length = 0
  await ask()
  return service.statements.length
}
/** Locks the table for 500 ms, so that concurrent requests share statements even if they arrive slowly. */
async function heldUp<T>(ask: () => Promise<T>): Promise<T> {
  const holder = await service.sql.connect()
  try {
    await holder.query('begin; lock table notification_recipients')
    const answers = ask()
    await sleep(500)
    await holder.query('rollback')
    return await answers
  } finally {
    holder.release(true)
  }
}
const ago = (days: number, ms = 0): Date => new Date(Date.now() - days * 86_400_000 + ms)
const many = (count: number, one: object = {}): object[] => Array.from({ length: count }, () => one)

describe('a page', () => {
  test('[comms.inbox] holds the newest first, and says where the next one begins', async () => {
    const anna = await reader('anna')
    const ids = await seedNotifications(service.sql, project, [anna], many(45))
    const newestFirst = ids.toReversed()
    const first = await list(project, anna)
    expect([first.status, idsOf(first)]).toEqual([200, newestFirst.slice(0, 20)])
    expect(first.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    })
    expect(Object.keys(first.body)).toEqual(['notifications', 'next_cursor', 'has_more'])
    expect(first.body.has_more).toBe(true)
    const second = await list(project, anna, `?cursor=${first.body.next_cursor}`)
    expect(idsOf(second)).toEqual(newestFirst.slice(20, 40))
    const third = await list(project, anna, `?cursor=${second.body.next_cursor}`)
    expect(idsOf(third)).toEqual(newestFirst.slice(40))
    expect(third.body).toMatchObject({ next_cursor: null, has_more: false })
  })

  test('[comms.inbox] that holds exactly the rest has no next one', async () => {
    const ben = await reader('ben')
    await seedNotifications(service.sql, project, [ben], many(3))
    expect((await list(project, ben, '?limit=3')).body).toMatchObject({ next_cursor: null, has_more: false })
    const two = await list(project, ben, '?limit=2')
    expect(two.body.has_more).toBe(true)
    const rest = await list(project, ben, `?limit=2&cursor=${two.body.next_cursor}`)
    expect([idsOf(rest).length, rest.body.has_more, rest.body.next_cursor]).toEqual([1, false, null])
  })

  test('[comms.inbox] goes on from one month to the one before', async () => {
    const cleo = await reader('cleo')
    const days = [85, 70, 55, 40, 25, 10, 0]
    const ids = await seedNotifications(
      service.sql,
      project,
      [cleo],
      days.map((day) => ({ at: ago(day) })),
    )
    expect(idsOf(await list(project, cleo))).toEqual(ids.toReversed())
    const walked = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Listed = await list(project, cleo, `?limit=2&cursor=${cursor}`)
      walked.push(...idsOf(page))
      cursor = page.body.next_cursor
    }
    expect(walked).toEqual(ids.toReversed())
  })

  test('[comms.inbox] of somebody without notifications is empty', async () => {
    const { status, body } = await list(project, await reader('dora'))
    expect([status, body]).toEqual([200, { notifications: [], next_cursor: null, has_more: false }])
  })

  test('[comms.inbox] many who ask at once share statements, and each gets their own page', async () => {
    const people = await Promise.all(Array.from({ length: 40 }, (_, index) => reader(`asks-${index}`)))
    const stranger = await person('asks-stranger')
    const own = []
    for (const one of people)
      own.push(await seedNotifications(service.sql, project, [one, stranger], many(5)))
    const alone = await statementsOf(() => list(project, stranger))
    service.statements.length = 0
    const [strange, ...answers] = await heldUp(() =>
      Promise.all(
        [stranger, ...people].map((one, index) => list(project, one, `?limit=${index % 2 === 0 ? 3 : 10}`)),
      ),
    )
    expect(idsOf(strange as Listed)).toEqual([])
    expect(answers.map(idsOf)).toEqual(
      own.map((ids, index) => ids.toReversed().slice(0, index % 2 === 0 ? 10 : 3)),
    )
    expect(service.statements.length).toBeLessThan(alone * people.length)
  })

  test('[comms.inbox-item] an item has every field, as the notification was sent', async () => {
    const emil = await reader('emil')
    const at = new Date(Date.now() - 60_000)
    const [readAt, seenAt, expiresAt] = [ago(0, -1_000), ago(0, -2_000), ago(-1)]
    const full = {
      at,
      type: 'orders.late',
      title: 'Late „Ünïcode“ \u2028',
      body: 'Order 7 is late\nby a day',
      severity: 'warning',
      link: '/orders/7',
      data: '{"order": 7, "big": 12345678901234567890.123, "nul": "\\u0000"}',
      expiresAt,
      readAt,
      seenAt,
    }
    const [fullId, bareId] = await seedNotifications(service.sql, project, [emil], [full, { data: 'null' }])
    const { body, text } = await list(project, emil)
    const [bare, item] = body.notifications
    expect(item).toEqual({
      id: fullId,
      type: 'orders.late',
      title: full.title,
      body: full.body,
      severity: 'warning',
      link: '/orders/7',
      // eslint-disable-next-line no-loss-of-precision -- a JavaScript client parses the number with this precision
      data: { order: 7, big: 12345678901234567890.123, nul: '\u0000' },
      created_at: at.toISOString(),
      read: true,
      read_at: readAt.toISOString(),
      seen: true,
      seen_at: seenAt.toISOString(),
      expires_at: expiresAt.toISOString(),
    })
    expect(text).toContain(`"data":${full.data}`)
    const nothing = { type: null, title: null, body: null, link: null, data: null, expires_at: null }
    const unmarked = { read: false, read_at: null, seen: false, seen_at: null }
    const created_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(bare).toEqual({ id: bareId, severity: 'info', created_at, ...nothing, ...unmarked })
    expect(Object.keys(bare ?? {})).toEqual(Object.keys(item ?? {}))
  })
})

describe('the query of a page', () => {
  test('[comms.inbox-query] limit is a number from 1 to 100, and 20 by default', async () => {
    const finn = await reader('finn')
    await seedNotifications(service.sql, project, [finn], many(105))
    const lengths = []
    for (const query of ['', '?limit=1', '?limit=99', '?limit=100'])
      lengths.push(idsOf(await list(project, finn, query)).length)
    expect(lengths).toEqual([20, 1, 99, 100])
    for (const limit of ['0', '101', '-1', '1.5', '1e1', '010', '+5', '', ' 5', 'x', '١'])
      expect([limit, errorOf(await list(project, finn, `?limit=${encodeURIComponent(limit)}`))]).toEqual([
        limit,
        [400, 'limit must be a number from 1 to 100'],
      ])
  })

  test('[comms.inbox-query] a cursor that is none is refused, and an empty one is none', async () => {
    const gina = await reader('gina')
    const [id = ''] = await seedNotifications(service.sql, project, [gina], many(1))
    expect(idsOf(await list(project, gina, '?cursor='))).toEqual([id])
    const good = encodeCursor(id)
    const bad = [
      id,
      `${good}=`,
      good.slice(1),
      `${good}A`,
      // In this cursor, spare bits after the last byte are set.
      `${good.slice(0, 21)}${good.endsWith('B') ? 'C' : 'B'}`,
      encodeCursor('0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de'),
      encodeCursor('ffffffff-ffff-7fff-bfff-ffffffffffff'),
      '~',
      'x'.repeat(100),
    ]
    for (const cursor of bad)
      expect([cursor, errorOf(await list(project, gina, `?cursor=${encodeURIComponent(cursor)}`))]).toEqual([
        cursor,
        [400, 'cursor is invalid; send next_cursor of the previous page, or no cursor'],
      ])
    expect(errorOf(await list(project, gina, `?cursor=${'x'.repeat(101)}`))).toEqual([
      400,
      'cursor must have at most 100 characters',
    ])
    expect(idsOf(await list(project, gina, `?cursor=${good}`))).toEqual([])
  })

  test('[comms.inbox-query] unread=true leaves out what is read, and nothing but true and false is understood', async () => {
    const hugo = await reader('hugo')
    const ids = await seedNotifications(
      service.sql,
      project,
      [hugo],
      [{ readAt: ago(0) }, {}, { seenAt: ago(0) }, { readAt: ago(0), seenAt: ago(0) }],
    )
    expect(idsOf(await list(project, hugo, '?unread=true'))).toEqual([ids[2], ids[1]])
    expect(idsOf(await list(project, hugo, '?unread=false'))).toEqual(ids.toReversed())
    const page = await list(project, hugo, '?unread=true&limit=1')
    expect(page.body.has_more).toBe(true)
    const rest = await list(project, hugo, `?unread=true&limit=1&cursor=${page.body.next_cursor}`)
    expect([idsOf(rest), rest.body.has_more]).toEqual([[ids[1]], false])
    for (const value of ['1', 'TRUE', '', 'yes'])
      expect(errorOf(await list(project, hugo, `?unread=${value}`))).toEqual([
        400,
        'unread must be true or false',
      ])
  })

  test('[comms.inbox-query] type keeps those of exactly this type, alone and together with unread', async () => {
    const ines = await reader('ines')
    const types = ['a', 'a.b', 'a.b', 'b', null, 'a.b', 'A.B', 'a.b.c']
    const ids = await seedNotifications(
      service.sql,
      project,
      [ines],
      types.map((type, index) => ({ type, at: ago(index * 12), readAt: index === 2 ? ago(0) : null })),
    )
    const found = async (query: string) =>
      idsOf(await list(project, ines, query)).map((id) => ids.indexOf(id))
    expect(await found('?type=a.b')).toEqual([1, 2, 5])
    expect(await found('?type=a')).toEqual([0])
    expect(await found('?type=unknown')).toEqual([])
    expect(await found('?type=')).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(await found('?type=a.b&unread=true')).toEqual([1, 5])
    expect(await found('?type=a.b&unread=false')).toEqual([1, 2, 5])
    const { body } = await list(project, ines, '?type=a.b&limit=2')
    expect(await found(`?type=a.b&limit=2&cursor=${body.next_cursor}`)).toEqual([5])
    const both = await list(project, ines, '?type=a.b&unread=true&limit=1')
    expect(await found(`?type=a.b&unread=true&limit=1&cursor=${both.body.next_cursor}`)).toEqual([5])
    expect(errorOf(await list(project, ines, `?type=${'x'.repeat(101)}`))).toEqual([
      400,
      'type must have at most 100 characters',
    ])
    expect(errorOf(await list(project, ines, '?type=a%00b'))).toEqual([
      400,
      'type must not contain control characters',
    ])
  })

  test('[comms.inbox-query] a parameter that is given twice is refused', async () => {
    const jana = await reader('jana')
    for (const name of ['limit', 'cursor', 'unread', 'type'])
      expect(errorOf(await list(project, jana, `?${name}=1&${name}=1`))).toEqual([
        400,
        `${name} must appear at most once`,
      ])
  })

  test('[comms.inbox-query] a look for unread ones of a type ends after a number of rows, and goes on with the next page', async () => {
    const kurt = await reader('kurt')
    const noise = await seedNotifications(
      service.sql,
      project,
      [kurt],
      [
        { type: 'rare', at: ago(2) },
        { type: 'rare', at: ago(2) },
        ...many(2 * maxScannedRows, { type: 'often', at: ago(1) }),
        { type: 'rare' },
      ],
    )
    const pages: string[][] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Listed = await list(project, kurt, `?unread=true&type=rare&cursor=${cursor}`)
      expect(page.body.has_more).toBe(page.body.next_cursor !== null)
      pages.push(idsOf(page))
      cursor = page.body.next_cursor
    }
    expect(pages).toEqual([[noise.at(-1)], [], [noise[1], noise[0]]])
  })
})

describe('what is unread', () => {
  test('[comms.unread] is true while one notification is unread, whenever it was made', async () => {
    const lena = await reader('lena')
    const ask = async () => (await unread(project, lena)).body
    expect(await ask()).toEqual({ unread: false })
    await seedNotifications(service.sql, project, [lena], [{ readAt: ago(0) }])
    expect(await ask()).toEqual({ unread: false })
    await seedNotifications(service.sql, project, [lena], [{ at: ago(60), seenAt: ago(0) }])
    expect(await ask()).toEqual({ unread: true })
    await service.sql.query('update notification_recipients set read_at = now() where user_id = $1', [
      lena.id,
    ])
    expect(await ask()).toEqual({ unread: false })
  })

  test('[comms.unread] many who ask at once share a statement, and each gets their own answer', async () => {
    const people = await Promise.all(Array.from({ length: 30 }, (_, index) => reader(`many-${index}`)))
    const [some, none] = [
      people.filter((_, index) => index % 3 === 0),
      people.filter((_, index) => index % 3 > 0),
    ]
    await seedNotifications(service.sql, project, some, [{}])
    const alone = await statementsOf(() => unread(project, none[0] as (typeof none)[0]))
    service.statements.length = 0
    const answers = await heldUp(() => Promise.all([...some, ...none].map((one) => unread(project, one))))
    expect(answers.map(({ body }) => body.unread)).toEqual([
      ...some.map(() => true),
      ...none.map(() => false),
    ])
    expect(service.statements.length).toBeLessThan(alone * people.length)
  })
})

describe('what is out of date', () => {
  test('[comms.retention] is invisible after 90 days, or after its expires_at, before it is deleted', async () => {
    const mona = await reader('mona')
    const [young, , soon] = await seedNotifications(
      service.sql,
      project,
      [mona],
      [
        { at: ago(89.9), type: 'a' },
        { at: ago(90.1), type: 'a' },
        { expiresAt: ago(0, 60_000), type: 'a' },
        { expiresAt: ago(0, -1), type: 'a' },
      ],
    )
    for (const query of ['', '?unread=true', '?type=a', '?unread=true&type=a'])
      expect([query, idsOf(await list(project, mona, query))]).toEqual([query, [soon, young]])
    await service.sql.query(
      'update notification_recipients set read_at = now() where user_id = $1 and notification_id = any ($2)',
      [mona.id, [young, soon]],
    )
    expect((await unread(project, mona)).body).toEqual({ unread: false })
  })
})
