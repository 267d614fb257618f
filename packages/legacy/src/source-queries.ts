// The queries that read an old installation. Each view is read once, ordered by project and then by tenant,
// so that an import keeps at most one project in memory. This order costs one sort per view.
import { type ViewName, views } from './views.ts'

/** The columns that exist in the views of this installation. */
export type ViewColumns = ReadonlyMap<ViewName, ReadonlySet<string>>

/** The maximum size of a stored pilet. The bytes of a larger pilet are not read. */
const maxPiletBytes = 64 * 1_048_576

const uuidPattern = `'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`
const selectId = (value: string): string =>
  `case when ${value} ~* ${uuidPattern} then lower(${value}) else nullif(${value}, '') end`

/** Selects all columns of a view, converted to their types. */
function selectView(view: ViewName, found: ViewColumns, isWithoutBytes = false): string {
  const columns = Object.entries(views[view].columns).map(([name, column]) => {
    const { as, missing = 'null', unknown = missing, isId = false } = column
    if (found.get(view)?.has(name) !== true) return `${missing}::${as} as ${name}`
    if (isWithoutBytes && name === 'content') return `md5(v.${name}) as ${name}`
    if (isId) return `${selectId(`v.${name}::text`)} as ${name}`
    return `coalesce(v.${name}::${as}, ${unknown}::${as}) as ${name}`
  })
  return `(select ${columns.join(', ')} from legacy.${view} v)`
}

/**
 * Selects a time as text. Times out of range become null. An `expires_at` before 1970 becomes 1970, so that
 * the token stays expired.
 */
function selectTime(name: string): string {
  const [minTimestamp, maxTimestamp] = [`'1970-01-01Z'::timestamptz`, `'9999-12-31Z'::timestamptz`]
  const earlyValue = name === 'expires_at' ? minTimestamp : 'null'
  const maxTime = name === 'last_heartbeat' ? 'now()' : maxTimestamp
  return `(case when v.${name} < ${minTimestamp} then ${earlyValue} when v.${name} <= ${maxTime} then v.${name} end)::text as ${name}`
}

/** Selects the projects of tenants and applications. Rows that belong to no project are omitted. */
const selectProjectTables = (found: ViewColumns): string => `
  p as (select id from ${selectView('projects', found)} p),
  t as (select t.id, p.id as project from ${selectView('tenants', found)} t join p on p.id = t.project_id),
  a as (
    select a.id, a.tenant_id, coalesce(t.project, p.id) as project from ${selectView('applications', found)} a
    left join t on t.id = a.tenant_id
    left join p on a.tenant_id is null and p.id = a.project_id
    where coalesce(t.project, p.id) is not null
  )`

/** How to read a view: the join with its project, additional columns, and the order within a project. */
type ViewReading = { from: string; project: string; extraColumns?: string; order: string }
const [ofProject, ofTenant, ofApplication] = [
  { from: 'left join p on p.id = v.project_id', project: 'p.id' },
  { from: 'left join t on t.id = v.tenant_id', project: 't.project' },
  { from: 'left join a on a.id = v.application_id', project: 'a.project' },
]
const roleRankSql = `case v.role when 'owner' then 0 when 'maintainer' then 1 else 2 end`
// Several rows with the same token are one credential. The first row that is enabled keeps the token.
const sameTokenWindow = `(partition by coalesce(v.token_hash::text, v.id)
  order by (t.project is null), coalesce(v.token_prefix !~ '^[A-Za-z0-9_-]{8}$', true), not v.enabled, t.project, v.tenant_id, v.id)`

const queriesByView: Record<ViewName, ViewReading> = {
  projects: { from: '', project: 'v.id', order: 'id' },
  tenants: { ...ofProject, order: 'id' },
  applications: {
    from: 'left join a on a.id = v.id',
    project: 'a.project',
    order: 'tenant_id nulls first, id',
  },
  tenant_members: {
    ...ofTenant,
    extraColumns: `row_number() over (partition by v.tenant_id, v.user_id order by ${roleRankSql}, v.role, v.created_at, v.name, v.email)::int as rank`,
    order: 'tenant_id, user_id, rank',
  },
  machine_users: {
    ...ofTenant,
    extraColumns: `first_value(v.id) over ${sameTokenWindow} as holder, coalesce(first_value(t.project) over ${sameTokenWindow}, '') as holder_project`,
    order: 'tenant_id, id',
  },
  backends: { ...ofApplication, order: 'last_heartbeat desc nulls last, id' },
  // Project settings come first. Then, for each tenant, tenant settings precede application settings.
  settings: {
    from: `left join a on a.id = v.application_id and v.tenant_id is null and v.project_id is null
      left join t on t.id = v.tenant_id and v.application_id is null and v.project_id is null
      left join p on p.id = v.project_id and v.application_id is null and v.tenant_id is null`,
    project: 'coalesce(a.project, t.project, p.id)',
    extraColumns: `coalesce(a.tenant_id, t.id, '') as tenant`,
    order: `tenant, application_id nulls first, id`,
  },
  endpoints: {
    ...ofApplication,
    extraColumns: `coalesce(a.tenant_id, '') as tenant`,
    order: 'tenant, application_id, id',
  },
  pilets: {
    ...ofProject,
    extraColumns: 'coalesce(octet_length(v.content), 0) as size',
    order: 'name, version, created_at nulls last, id',
  },
  tokens: {
    from: '',
    project: `''`,
    extraColumns: `first_value(v.id) over (partition by v.token_prefix order by
      coalesce(v.user_id !~ ${uuidPattern}, true), coalesce(v.hash not like '$pbkdf2-sha256$i=%', true), v.revoked,
      coalesce(v.expires_at <= now(), false), v.id) as holder`,
    order: 'user_id, id',
  },
}

/** Selects all rows of a view, ordered by project. Rows without a project come first. */
export function buildRowsQuery(view: ViewName, found: ViewColumns): string {
  const { from, project, extraColumns, order } = queriesByView[view]
  const columns = Object.entries(views[view].columns).map(([name, { as }]) => {
    if (name === 'content')
      return `case when octet_length(v.content) <= ${maxPiletBytes} then v.content end as content`
    return as === 'timestamptz' ? selectTime(name) : `v.${name}`
  })
  return `with ${selectProjectTables(found)}
    select * from (
      select ${columns.join(', ')}, coalesce(${project}, '') collate "C" as project${extraColumns === undefined ? '' : `, ${extraColumns}`}
      from ${selectView(view, found)} v ${from}
    ) read order by project, ${order}`
}

/**
 * Counts the rows of a view and computes their fingerprint. For pilets, the fingerprint covers the digest of the
 * content.
 */
export const buildFingerprintQuery = (view: ViewName, viewColumns: ViewColumns): string => `
  select count(*)::int as rows, coalesce(sum(hashtextextended(v::text, 0)::numeric), 0)::text as fingerprint
  from ${selectView(view, viewColumns, true)} v`

/** The maximum length of the keys by which the ledger finds rows. */
const maxKeyBytes = 1_000

/** Selects a few keys that are missing, duplicate or too long. */
export function buildBadKeysQuery(view: ViewName, viewColumns: ViewColumns): string {
  const key = views[view].key.map((name) => `v.${name}`)
  // For members, only the length is checked: several rows for the same person are ranked, and rows without a person
  // are orphans.
  if (view === 'tenant_members')
    return `select concat_ws('/', ${key.join(', ')}) as key from ${selectView(view, viewColumns)} v
      where octet_length(concat_ws('/', ${key.join(', ')})) > ${maxKeyBytes} limit 3`
  const missingKeySql = key.map((name) => `${name} is null`).join(' or ')
  return `select concat_ws('/', ${key.join(', ')}) as key from ${selectView(view, viewColumns, true)} v
    group by ${key.join(', ')} having count(*) > 1 or ${missingKeySql} or octet_length(concat_ws('/', ${key.join(', ')})) > ${maxKeyBytes} limit 3`
}

/** Selects the tenant types, and the number of tenants of each type. */
export const buildTypesQuery = (found: ViewColumns): string => `
  select coalesce(v.type, '') as type, count(*)::int as tenants from ${selectView('tenants', found)} v
  group by 1 order by 1`
