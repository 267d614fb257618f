// The statements that read an old install. Each view is read once, in the order of projects and then of tenants, so that an
// import needs no more of it in memory than a project; its cost is one sort per view.
import { type ViewName, views } from './views.ts'

/** The columns that the views of this install have. */
export type FoundColumns = ReadonlyMap<ViewName, ReadonlySet<string>>

/** What may be stored of one pilet; the bytes of a larger one are not read. */
const maxPiletBytes = 64 * 1_048_576

const uuid = `'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`
const idOf = (value: string): string =>
  `case when ${value} ~* ${uuid} then lower(${value}) else nullif(${value}, '') end`

/** A view with all columns, in their types. */
function whole(view: ViewName, found: FoundColumns, isWithoutBytes = false): string {
  const columns = Object.entries(views[view].columns).map(([name, column]) => {
    const { as, missing = 'null', unknown = missing, isId = false } = column
    if (found.get(view)?.has(name) !== true) return `${missing}::${as} as ${name}`
    if (isWithoutBytes && name === 'content') return `md5(v.${name}) as ${name}`
    if (isId) return `${idOf(`v.${name}::text`)} as ${name}`
    return `coalesce(v.${name}::${as}, ${unknown}::${as}) as ${name}`
  })
  return `(select ${columns.join(', ')} from legacy.${view} v)`
}

/** As texts. What no calendar of ours has reads as no time, and a token that has ended long ago as one that has ended. */
function timeOf(name: string): string {
  const [first, last] = [`'1970-01-01Z'::timestamptz`, `'9999-12-31Z'::timestamptz`]
  const early = name === 'expires_at' ? first : 'null'
  const latest = name === 'last_heartbeat' ? 'now()' : last
  return `(case when v.${name} < ${first} then ${early} when v.${name} <= ${latest} then v.${name} end)::text as ${name}`
}

/** Where projects, tenants and applications are; what belongs to no project is in none of them. */
const places = (found: FoundColumns): string => `
  p as (select id from ${whole('projects', found)} p),
  t as (select t.id, p.id as place from ${whole('tenants', found)} t join p on p.id = t.project_id),
  a as (
    select a.id, a.tenant_id, coalesce(t.place, p.id) as place from ${whole('applications', found)} a
    left join t on t.id = a.tenant_id
    left join p on a.tenant_id is null and p.id = a.project_id
    where coalesce(t.place, p.id) is not null
  )`

/** How a view is joined to its place, what else is read of it, and in which order within a place. */
type Reading = { from: string; place: string; more?: string; order: string }
const [ofProject, ofTenant, ofApplication] = [
  { from: 'left join p on p.id = v.project_id', place: 'p.id' },
  { from: 'left join t on t.id = v.tenant_id', place: 't.place' },
  { from: 'left join a on a.id = v.application_id', place: 'a.place' },
]
const roleRank = `case v.role when 'owner' then 0 when 'maintainer' then 1 else 2 end`
// The same token in several rows is one credential: the first that is enabled keeps it.
const sameToken = `(partition by coalesce(v.token_hash::text, v.id)
  order by (t.place is null), coalesce(v.token_prefix !~ '^[A-Za-z0-9_-]{8}$', true), not v.enabled, t.place, v.tenant_id, v.id)`

const readings: Record<ViewName, Reading> = {
  projects: { from: '', place: 'v.id', order: 'id' },
  tenants: { ...ofProject, order: 'id' },
  applications: { from: 'left join a on a.id = v.id', place: 'a.place', order: 'tenant_id nulls first, id' },
  tenant_members: {
    ...ofTenant,
    more: `row_number() over (partition by v.tenant_id, v.user_id order by ${roleRank}, v.role, v.created_at, v.name, v.email)::int as rank`,
    order: 'tenant_id, user_id, rank',
  },
  machine_users: {
    ...ofTenant,
    more: `first_value(v.id) over ${sameToken} as holder, coalesce(first_value(t.place) over ${sameToken}, '') as holder_place`,
    order: 'tenant_id, id',
  },
  backends: { ...ofApplication, order: 'last_heartbeat desc nulls last, id' },
  // Of a project, then for each tenant its own and those of its applications.
  settings: {
    from: `left join a on a.id = v.application_id and v.tenant_id is null and v.project_id is null
      left join t on t.id = v.tenant_id and v.application_id is null and v.project_id is null
      left join p on p.id = v.project_id and v.application_id is null and v.tenant_id is null`,
    place: 'coalesce(a.place, t.place, p.id)',
    more: `coalesce(a.tenant_id, t.id, '') as tenant`,
    order: `tenant, application_id nulls first, id`,
  },
  endpoints: {
    ...ofApplication,
    more: `coalesce(a.tenant_id, '') as tenant`,
    order: 'tenant, application_id, id',
  },
  pilets: {
    ...ofProject,
    more: 'coalesce(octet_length(v.content), 0) as size',
    order: 'name, version, created_at nulls last, id',
  },
  tokens: {
    from: '',
    place: `''`,
    more: `first_value(v.id) over (partition by v.token_prefix order by
      coalesce(v.user_id !~ ${uuid}, true), coalesce(v.hash not like '$pbkdf2-sha256$i=%', true), v.revoked,
      coalesce(v.expires_at <= now(), false), v.id) as holder`,
    order: 'user_id, id',
  },
}

/** All rows of a view, in the order of their places; those of no project come first. */
export function rowsQuery(view: ViewName, found: FoundColumns): string {
  const { from, place, more, order } = readings[view]
  const columns = Object.entries(views[view].columns).map(([name, { as }]) => {
    if (name === 'content')
      return `case when octet_length(v.content) <= ${maxPiletBytes} then v.content end as content`
    return as === 'timestamptz' ? timeOf(name) : `v.${name}`
  })
  return `with ${places(found)}
    select * from (
      select ${columns.join(', ')}, coalesce(${place}, '') collate "C" as place${more === undefined ? '' : `, ${more}`}
      from ${whole(view, found)} v ${from}
    ) read order by place, ${order}`
}

/** How many rows a view has, and a fingerprint of them (of the bytes of pilets, of their digest). */
export const fingerprintQuery = (view: ViewName, found: FoundColumns): string => `
  select count(*)::int as rows, coalesce(sum(hashtextextended(v::text, 0)::numeric), 0)::text as fingerprint
  from ${whole(view, found, true)} v`

/** The ledger finds rows by their keys. */
const maxKeyBytes = 1_000

/** Keys that are missing, used twice or too long, a few of them. */
export function badKeysQuery(view: ViewName, found: FoundColumns): string {
  const key = views[view].key.map((name) => `v.${name}`)
  // Rows of one person in a tenant are ranked instead, and those of nobody are orphans.
  if (view === 'tenant_members')
    return `select concat_ws('/', ${key.join(', ')}) as key from ${whole(view, found)} v
      where octet_length(concat_ws('/', ${key.join(', ')})) > ${maxKeyBytes} limit 3`
  const isMissing = key.map((name) => `${name} is null`).join(' or ')
  return `select concat_ws('/', ${key.join(', ')}) as key from ${whole(view, found, true)} v
    group by ${key.join(', ')} having count(*) > 1 or ${isMissing} or octet_length(concat_ws('/', ${key.join(', ')})) > ${maxKeyBytes} limit 3`
}

/** The types of tenants, and how many tenants have each. */
export const typesQuery = (found: FoundColumns): string => `
  select coalesce(v.type, '') as type, count(*)::int as tenants from ${whole('tenants', found)} v
  group by 1 order by 1`
