// Reads from the audit trail who granted a role, and when.
import { sql } from 'kysely'
import type { Reads } from '../../platform/postgres/handles.ts'
import { systemChain } from '../../platform/audit/entry.ts'

/** The audit entity of a role; `projectId` is null for system roles. */
export type GrantKey = { projectId: string | null; entityType: string; entityId: string }
export type Grant = { grantedAt: string; grantedBy: string | null }

/**
 * Returns the newest grant or change of each role, or null if the trail has none. If a person accepted an invitation, the
 * inviter granted the role. The grant of a group rule is its creation or last change.
 */
export async function findGrants(db: Reads, keys: readonly GrantKey[]): Promise<(Grant | null)[]> {
  const { rows } = await sql<Grant & { position: number }>`
    select wanted.position::int, l.created_at as granted_at,
      coalesce(nullif(u.external_name, ''), u.external_username, l.inviter_id, l.principal_id) as granted_by
    from unnest(
      ${keys.map(({ projectId }) => projectId ?? systemChain)}::uuid[], ${keys.map(({ entityType }) => entityType)}::text[],
      ${keys.map(({ entityId }) => entityId)}::text[]
    ) with ordinality as wanted (chain_id, entity_type, entity_id, position)
    cross join lateral (
      select audit_logs.created_at, audit_logs.user_id, audit_logs.principal_id,
        audit_logs.metadata ->> 'inviter_id' as inviter_id
      from audit_logs
      where audit_logs.chain_id = wanted.chain_id and audit_logs.entity_id = wanted.entity_id
        and audit_logs.entity_type = wanted.entity_type and audit_logs.action = any(case wanted.entity_type
          when 'groupRule' then array['create', 'update'] else array['grant', 'update'] end)
        and (wanted.entity_type <> 'user' or audit_logs.changes #>> '{role,after}' = 'administrator')
      order by audit_logs.seq desc limit 1
    ) l
    left join users u on u.id = coalesce(l.inviter_id::uuid, l.user_id)`.execute(db)
  const grants: (Grant | null)[] = keys.map(() => null)
  for (const { position, ...grant } of rows) grants[position - 1] = grant
  return grants
}
