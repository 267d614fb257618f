// Lists a month of notifications: orders for the people of each tenant, and news about the project for Anna.
import { v7 } from 'uuid'
import { type DemoShop, getTenantId } from './demo-data.ts'
import { anna, tenantMembers } from './demo-people.ts'
import { fullStock } from './demo-partner.ts'
import { type Past, type Random, createRandom } from './demo-past.ts'
import { type ApplicationSlug, type TenantSlug, tenants } from './demo-world.ts'

const [minuteMs, hourMs] = [60_000, 3_600_000]
const maxOrderHours = 60

type Severity = 'info' | 'success' | 'warning' | 'error'
type Draft = {
  time: number
  tenant: TenantSlug
  application: ApplicationSlug
  title: string
  body: string
  severity: Severity
  data?: object
  users: readonly string[]
  isRead: boolean
}

type AnnasDraft = readonly [
  hoursAgo: number,
  tenant: TenantSlug,
  application: ApplicationSlug,
  severity: Severity,
  title: string,
  body: string,
]
/** Anna's notifications, newest first. The first `unreadOfAnna` notifications are unread. */
const forAnna: readonly AnnasDraft[] = [
  [1.4, 'acme', 'shop', 'success', 'Acme Hotels ordered 40 tulips', 'Order T-7114 by Amir Stone.'],
  [
    2.2,
    'acme',
    'billing',
    'error',
    'Billing has no live backend',
    'The invoices of this hour were not booked.',
  ],
  [
    4.6,
    'dune',
    'deliveries',
    'warning',
    'The carrier does not answer',
    'Parcel tracking failed 9 times in an hour.',
  ],
  [26, 'dune', 'shop', 'success', 'Dune Resorts ordered 12 tulips', 'Order T-6980 by Dora Klein.'],
  [29, 'acme', 'deliveries', 'warning', 'The carrier refuses connections', 'Parcel tracking works again.'],
  [75, 'cedar', 'shop', 'info', 'Cedar Clinics stays on an older pilet', '@bloom/stock is pinned to 1.0.0.'],
  [171, 'birch', 'shop', 'warning', 'Card payments are failing', 'The partner returned 503 for three hours.'],
  [340, 'cedar', 'billing', 'success', 'The month is closed', '214 invoices were booked.'],
]
const unreadOfAnna = 3

/** Returns the notifications as rows, keyed by column name. */
export function listNotifications(shop: DemoShop, past: Past) {
  const random = createRandom(3)
  const drafts = [
    ...tenants.flatMap(({ slug }) => createOrderDrafts(slug, past, random)),
    ...listForAnna(past),
  ]
  return drafts.map(({ time, tenant, application, users, isRead, ...content }) => ({
    ...content,
    id: v7({ msecs: time }),
    // The creation time equals the timestamp in the id.
    created_at: new Date(time).toISOString(),
    tenant_id: getTenantId(shop, tenant),
    application_id: shop.applications[application].id,
    users,
    read_at: isRead ? new Date(Math.min(time + 20 * minuteMs, past.until)).toISOString() : null,
  }))
}

const listForAnna = ({ from, until }: Past): Draft[] =>
  forAnna
    .map(([hoursAgo, tenant, application, severity, title, body], index) => ({
      time: Math.round(until - hoursAgo * hourMs),
      tenant,
      application,
      severity,
      title,
      body,
      users: [anna.subject],
      isRead: index >= unreadOfAnna,
    }))
    .filter(({ time }) => time >= from)

/** Every tenant orders every few days. The last order of each tenant is unread. */
function createOrderDrafts(tenant: TenantSlug, { from, until }: Past, random: Random): Draft[] {
  const users = tenantMembers.filter((person) => person.tenant?.slug === tenant).map(({ subject }) => subject)
  const times: number[] = []
  for (let at = from; at < until - 2 * hourMs; at += random.between(20, maxOrderHours) * hourMs)
    times.push(at)
  return times.map((time, index) => {
    const count = random.between(3, 30)
    return {
      time: time + random.between(0, hourMs),
      tenant,
      application: 'shop',
      severity: 'success',
      title: `Order T-${random.between(1_000, 6_999)} is on its way`,
      body: `${count} tulips arrive tomorrow.`,
      data: { left: fullStock },
      users,
      isRead: index < times.length - 1,
    }
  })
}
