// One statement writes any number of notifications. It checks their targets, resolves recipients, claims
// keys, and inserts notifications and recipients. Columns are passed as arrays. The number of recipients
// affects only the number of written rows.
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'
import { buildMayUseApplicationsSql } from '../../policy/has-application.ts'
import type { CommsTarget } from './comms-state.store.ts'
import { joinState, targetStateSql } from './comms-state.store.ts'
import type { EmitInput } from './emit-input.pure.ts'

/** A notification to write. `createdAt` is the time that its id contains. */
export type Emit = CommsTarget &
  EmitInput & { id: string; createdAt: string; requestId: string; fingerprint: Buffer | null }

export type EmitResult = {
  /**
   * `taken`: a different emit has claimed the key or is claiming it. `past`: the notification would already
   * be expired. Rows are inserted only for `written`.
   */
  outcome: 'foreign' | 'off' | 'past' | 'taken' | 'written'
  /** The number of users for whom the notification is written. */
  count: number
  /** The subset of these users that the emit lists by id. */
  named: string[]
}

// The expression is evaluated only if the application is enabled.
const hasApplicationSql = buildMayUseApplicationsSql({
  tenantId: 'judged.tenant_id',
  projectId: 'judged.project_id',
  userId: 'given.id',
})

const statement: PreparedStatement = {
  name: 'comms-emit',
  kind: 'write',
  text: `
  with judged as materialized (
    select wanted.*, case when state.state = 'on' and wanted.expires_at <= now() then 'past' else state.state end as outcome,
      -- Does not wait for a key that another statement is claiming: all emits of this statement would wait too.
      case when state.state = 'on' and wanted.key is not null then pg_try_advisory_xact_lock(hashtextextended(
        concat_ws(' ', 'notification_keys', wanted.tenant_id, wanted.application_id, wanted.key), 0)) end as holds_key
    from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[],
        $9::text[], $10::text[], $11::text[], $12::text[], $13::json[], $14::timestamptz[], $15::text[], $16::bytea[],
        $17::text[]) with ordinality
      as wanted (id, created_at, project_id, application_id, tenant_id, recipients, roles, type, title, body, severity,
        link, data, expires_at, key, fingerprint, request_id, position)
    ${joinState}
    cross join lateral (select ${targetStateSql} as state) state
  ), named as materialized (
    select judged.*, array(
      select distinct given.id from unnest(case when outcome = 'on' then recipients::uuid[] end) as given (id)
      where ${hasApplicationSql} order by 1
    ) as named
    from judged
  ), addressed as materialized (
    select named.*, case when recipients is not null and roles is null then named.named else array(
      select m.user_id from tenant_role_definitions d
      join user2tenants m on m.tenant_id = d.tenant_id and m.role_name = d.name
      where named.outcome = 'on' and d.tenant_id = named.tenant_id and 'apps.read' = any (d.permissions)
        and (named.roles is null or d.name = any (array(select json_array_elements_text(named.roles::json))))
      union select unnest(named.named) order by 1
    ) end as users
    from named
  ), claimed as (
    insert into notification_keys as held (tenant_id, application_id, key, fingerprint, notification_id, request_id,
      recipient_count, expires_at)
    select distinct on (tenant_id, application_id, key) tenant_id, application_id, key, fingerprint, id, request_id,
      cardinality(users), now() + interval '24 hours'
    from addressed where outcome = 'on' and holds_key
    order by tenant_id, application_id, key, position
    on conflict on constraint notification_keys_pkey do update set fingerprint = excluded.fingerprint,
      notification_id = excluded.notification_id, request_id = excluded.request_id,
      recipient_count = excluded.recipient_count, expires_at = excluded.expires_at
    where held.expires_at <= now()
    returning notification_id
  ), ended as materialized (
    select addressed.*, case when outcome <> 'on' then outcome
      when key is null or id = any (array(select notification_id from claimed)) then 'written'
      else 'taken' end as "end"
    from addressed
  ), contents as (
    insert into notifications (id, created_at, tenant_id, application_id, type, title, body, severity, link, data,
      expires_at)
    select id, created_at, tenant_id, application_id, type, title, body, severity, link, data, expires_at
    from ended where "end" = 'written' and users <> '{}'
  ), recipients as (
    insert into notification_recipients (tenant_id, application_id, user_id, created_at, notification_id, type,
      expires_at)
    select tenant_id, application_id, "user", created_at, id, type, expires_at
    from ended cross join lateral unnest(users) as "user" where "end" = 'written'
  ), counted as (
    -- An insert without conflicts: concurrent emits of an application do not wait for each other.
    insert into notification_count_changes (application_id, day, emitted, recipients)
    select application_id, date_trunc('day', created_at, 'UTC'), count(*), sum(cardinality(users))
    from ended where "end" = 'written' group by 1, 2
  )
  select position::int, "end" as outcome, cardinality(users) as count, named from ended`,
}

type Row = EmitResult & { position: number }

const getColumnValues = (emits: readonly Emit[]): unknown[] => [
  emits.map(({ id }) => id),
  emits.map(({ createdAt }) => createdAt),
  emits.map(({ projectId }) => projectId),
  emits.map(({ applicationId }) => applicationId),
  emits.map(({ tenantId }) => tenantId),
  emits.map(({ recipients }) => (recipients === null ? null : `{${recipients.join(',')}}`)),
  emits.map(({ roles }) => (roles === null ? null : JSON.stringify(roles))),
  emits.map(({ type }) => type),
  emits.map(({ title }) => title),
  emits.map(({ body }) => body),
  emits.map(({ severity }) => severity),
  emits.map(({ link }) => link),
  emits.map(({ data }) => data),
  emits.map(({ expiresAt }) => expiresAt),
  emits.map(({ key }) => key),
  emits.map(({ fingerprint }) => fingerprint),
  emits.map(({ requestId }) => requestId),
]

/**
 * The two statements have different names, so that each has its own plan and time limit. The number of members of a
 * tenant affects the best plan and the duration.
 */
const statements = {
  named: statement,
  members: { ...statement, name: 'comms-emit-to-members', size: 'long' },
} as const satisfies Record<string, PreparedStatement>

/** Writes notifications and returns the results in the order of `emits`. */
export async function writeEmits(
  run: RunPrepared,
  emits: readonly Emit[],
  to: keyof typeof statements,
): Promise<(EmitResult | null)[]> {
  return orderByPosition<EmitResult>(emits.length, await run<Row>(statements[to], getColumnValues(emits)))
}

export type ScopedKey = { applicationId: string; tenantId: string; key: string }
/** The stored response of an emit with this key, and the SHA-256 hash of its input. */
export type StoredResponse = {
  fingerprint: Buffer
  notificationId: string
  requestId: string
  recipientCount: number
}

const storedResponsesStatement: PreparedStatement = {
  name: 'comms-kept-answers',
  kind: 'read',
  text: `
    select wanted.position::int, kept.fingerprint, kept.notification_id as "notificationId",
      kept.request_id as "requestId", kept.recipient_count as "recipientCount"
    from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality as wanted (tenant_id, application_id, key, position)
    cross join lateral (
      select k.fingerprint, k.notification_id, k.request_id, k.recipient_count from notification_keys k
      where k.tenant_id = wanted.tenant_id and k.application_id = wanted.application_id and k.key = wanted.key
        and k.expires_at > now() limit 1
    ) kept`,
}

/** Returns the stored responses in the order of the keys; null if a key is unknown or expired. */
export async function readStoredResponses(
  run: RunPrepared,
  keys: readonly ScopedKey[],
): Promise<(StoredResponse | null)[]> {
  const rows = await run<StoredResponse & { position: number }>(storedResponsesStatement, [
    keys.map(({ tenantId }) => tenantId),
    keys.map(({ applicationId }) => applicationId),
    keys.map(({ key }) => key),
  ])
  return orderByPosition<StoredResponse>(keys.length, rows)
}
