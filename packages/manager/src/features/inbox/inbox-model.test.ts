// These tests compare random inboxes of several users, tenants and applications with a model. They cover
// pages while notifications arrive, and the effect of marks.
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import {
  type Inbox,
  addPastMonths,
  inboxCalls,
  recipientRows,
  seedNotifications,
} from '../../../test/kit/inbox.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedTenant } from '@manager/harness/seed.ts'

const { service, project, person } = useProject()
const { list, unread, read, seen } = inboxCalls(() => service)

let inboxes: Inbox[]
beforeAll(async () => {
  await addPastMonths(service.sql)
  const [tenantId, applicationId] = [randomUUID(), randomUUID()]
  await seedTenant(service.sql, project.id, tenantId, 'second')
  await service.sql.query(
    `insert into applications (id, project_id, name, slug) values ($1, $2, 'second', 'second')`,
    [applicationId, project.id],
  )
  await service.sql.query(
    `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
     select gen_random_uuid(), $1, t.id, a.id, true from tenants t, applications a on conflict do nothing`,
    [project.id],
  )
  const tenants = [project.tenantId, tenantId]
  inboxes = tenants.flatMap((tenant) =>
    [project.applicationId, applicationId].map((application) => ({
      tenantId: tenant,
      applicationId: application,
    })),
  )
})

const types = ['a', 'a.b', null] as const
const notification = fc.record({
  inbox: fc.nat(3),
  // The number is a bit set that selects some of the three recipients.
  recipients: fc.integer({ min: 1, max: 7 }),
  type: fc.constantFrom(...types),
  // There are only a few values, so that many notifications share a value.
  daysAgo: fc.constantFrom(0, 1, 20, 45, 75, 89, 91, 100),
  readAt: fc.constantFrom(null, null, new Date('2026-01-01T00:00:00Z')),
  isExpired: fc.constantFrom(false, false, false, false, true),
})
const walk = fc.record({
  inbox: fc.nat(3),
  user: fc.nat(2),
  unread: fc.boolean(),
  type: fc.constantFrom(null, 'a', 'a.b', 'none'),
  limits: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 }),
})
const anyWorld = fc.record({
  sent: fc.array(notification, { maxLength: 60 }),
  walks: fc.array(walk, { minLength: 1, maxLength: 3 }),
  marked: fc.array(fc.nat(59), { maxLength: 30 }),
  mark: fc.constantFrom('read' as const, 'seen' as const, 'all' as const),
})
type World = typeof anyWorld extends fc.Arbitrary<infer T> ? T : never
type Sent = World['sent'][number] & { id: string }

/** Returns the notifications that the model expects in an inbox, newest first. */
const expected = (sent: readonly Sent[], { inbox, user }: { inbox: number; user: number }): Sent[] =>
  sent
    .filter((one) => one.inbox === inbox && (one.recipients & (1 << user)) > 0)
    .filter((one) => one.daysAgo < 90 && !one.isExpired)
    .toSorted((a, b) => (a.id < b.id ? 1 : -1))

async function seed(world: World, people: Person[]): Promise<Sent[]> {
  const sent: Sent[] = []
  for (const one of world.sent) {
    const recipients = people.filter((_, index) => (one.recipients & (1 << index)) > 0)
    const at = new Date(Date.now() - one.daysAgo * 86_400_000)
    const { type, readAt } = one
    const expiresAt = one.isExpired ? new Date(Date.now() - 1) : null
    const content = { at, type, readAt, seenAt: readAt, expiresAt }
    const [id = ''] = await seedNotifications(service.sql, inboxes[one.inbox] as Inbox, recipients, [content])
    sent.push({ ...one, id })
  }
  return sent
}

/** Reads all pages in order. A newer notification arrives before each page. */
async function walkPages(wanted: World['walks'][number], who: Person): Promise<string[]> {
  const inbox = inboxes[wanted.inbox] as Inbox
  const filter = `unread=${wanted.unread}&type=${wanted.type ?? ''}`
  const found: string[] = []
  for (let [cursor, step]: [string | null, number] = ['', 0]; cursor !== null; step++) {
    const limit = wanted.limits[step % wanted.limits.length] as number
    const { status, body } = await list(inbox, who, `?${filter}&limit=${limit}&cursor=${cursor}`)
    expect([status, body.has_more]).toEqual([200, body.next_cursor !== null])
    expect(body.notifications.length).toBe(body.has_more ? limit : body.notifications.length)
    expect(body.notifications.length).toBeLessThanOrEqual(limit)
    found.push(...body.notifications.map(({ id }) => id))
    cursor = body.next_cursor
    const at = new Date(Date.now() + 1_000 + step)
    await seedNotifications(service.sql, inbox, [who], [{ at, type: wanted.type }])
  }
  return found
}

test('[comms.inbox] [comms.anchored] walking the pages meets everything that was there once, and nothing of others, while more arrives', async () => {
  await fc.assert(
    fc.asyncProperty(anyWorld, async (world) => {
      const people = [await person('a'), await person('b'), await person('c')]
      for (const who of people)
        for (const tenantId of new Set(inboxes.map((inbox) => inbox.tenantId)))
          await seedMember(service.sql, who, 'member', { projectId: project.id, tenantId })
      const sent = await seed(world, people)
      const arrivedIn = new Set<string>()
      for (const wanted of world.walks) {
        const { inbox, user, type } = wanted
        // An earlier iteration added notifications that the model does not know.
        if (arrivedIn.has(`${inbox} ${user}`)) continue
        arrivedIn.add(`${inbox} ${user}`)
        const all = expected(sent, wanted)
        const who = people[user] as Person
        expect((await unread(inboxes[inbox] as Inbox, who)).body.unread).toBe(
          all.some(({ readAt }) => readAt === null),
        )
        const matching = all
          .filter(({ readAt }) => !wanted.unread || readAt === null)
          .filter((one) => type === null || one.type === type)
        expect(await walkPages(wanted, who)).toEqual(matching.map(({ id }) => id))
      }
    }),
    { numRuns: 25 },
  )
}, 120_000)

test('[comms.read] [comms.seen] [comms.anchored] marks change the rows of the caller that were not marked, and no other', async () => {
  await fc.assert(
    fc.asyncProperty(anyWorld, async (world) => {
      const people = [await person('a'), await person('b'), await person('c')]
      for (const who of people)
        for (const tenantId of new Set(inboxes.map((inbox) => inbox.tenantId)))
          await seedMember(service.sql, who, 'member', { projectId: project.id, tenantId })
      const sent = await seed(world, people)
      const ids = world.marked.flatMap((index) => sent[index]?.id ?? [])
      if (ids.length === 0) ids.push(randomUUID())
      const { mark } = world
      const [caller, inbox] = [people[0] as Person, inboxes[0] as Inbox]
      const before = await states(people)
      const { body } =
        mark === 'all'
          ? await read(inbox, caller, { all: true })
          : await (mark === 'read' ? read : seen)(inbox, caller, { ids })
      const touched = expected(sent, { inbox: 0, user: 0 })
        .filter(({ id, readAt }) => readAt === null && (mark === 'all' || ids.includes(id)))
        .map(({ id }) => `0 0 ${id}`)
      expect(body).toEqual({ updated: touched.length })
      const now = mark === 'seen' ? 'seen' : 'read seen'
      for (const key of touched) before.set(key, now)
      expect(await states(people)).toEqual(before)
    }),
    { numRuns: 25 },
  )
}, 120_000)

/** Returns the marks of every row of these users, keyed by inbox, user and id. */
async function states(people: Person[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const [place, inbox] of inboxes.entries())
    for (const [user, who] of people.entries())
      for (const { id, readAt, seenAt } of await recipientRows(service.sql, inbox, who))
        found.set(`${place} ${user} ${id}`, [readAt && 'read', seenAt && 'seen'].filter(Boolean).join(' '))
  return found
}
