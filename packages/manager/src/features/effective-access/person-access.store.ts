// Reads what one person has access to. Each kind of membership is one branch of a statement that starts at the cursor,
// so the cost of a page does not depend on the memberships of others or on the number of pages before it.
import { type RawBuilder, sql } from 'kysely'
import type { Reads } from '../../platform/postgres/handles.ts'
import { buildReadsApplicationsSql } from '../../policy/has-application.ts'
import { createReadableProjectSql, createReadableTenantSql } from '../../policy/readable-members.ts'
import {
  type ListedRecord,
  highestId,
  lowestId,
  readRecords,
  selectCandidate,
} from './access-records.store.ts'

/** The person, and who reads. */
type Selection = {
  userId: string
  /** The caller, if they see only some of the rows; otherwise null. */
  readerId: string | null
  /** Restricts the rows to one project, unless it is null. */
  projectId: string | null
}

/** The position after which a page starts; null for the first page. */
export type PersonPosition = { section: number; projectId: string; tenantId: string; applicationId: string }

/** Sections of the rows in a project, in their order. */
const sections = { project: 0, tenant: 1, application: 2 }

/** Returns the place of a record in the order of the list. */
export const getPersonPosition = (record: ListedRecord): string[] => [
  String(record.section),
  record.projectId ?? lowestId,
  record.tenantId ?? lowestId,
  record.applicationId ?? lowestId,
]

/**
 * Finds a person. With `readerId`, returns only a person of whom this reader may see at least one membership.
 */
export async function findPerson(
  db: Reads,
  userId: string,
  readerId: string | null,
): Promise<{ id: string } | undefined> {
  const isVisible =
    readerId === null
      ? sql<boolean>`true`
      : sql<boolean>`(
          exists (select from user2projects m where m.user_id = users.id
            and ${createReadableProjectSql('m.projectId', readerId)})
          or exists (select from user2tenants m where m.user_id = users.id
            and (${createReadableProjectSql('m.projectId', readerId)} or ${createReadableTenantSql('m.tenantId', readerId)}))
          or exists (select from user2applications m where m.user_id = users.id
            and ${createReadableProjectSql('m.projectId', readerId)}))`
  return db.selectFrom('users').select('id').where('id', '=', userId).where(isVisible).executeTakeFirst()
}

/** Returns the rows of a person that follow a position, at most `limit`. */
export function listPersonRecords(
  db: Reads,
  selection: Selection,
  after: PersonPosition | null,
  limit: number,
): Promise<ListedRecord[]> {
  const build = createBranches(selection, after, limit)
  const branches = [build.projects(), build.tenants(), build.tenantApplications(), build.applications()]
  // The system role is always the first row.
  if (after === null && selection.readerId === null) branches.push(createSystemBranch(selection.userId))
  return readRecords(db, branches, {
    order: sql`coalesce(project_id, ${lowestId}::uuid), section, coalesce(tenant_id, ${lowestId}::uuid),
      coalesce(application_id, ${lowestId}::uuid)`,
    limit,
  })
}

const createSystemBranch = (userId: string): RawBuilder<unknown> => sql`
  ${selectCandidate({ scope: 'SYSTEM', section: 0, user: sql`users.id` })}
  from users where users.id = ${userId} and users.role = 'administrator'`

const [project, tenant, user] = [sql`m.project_id`, sql`m.tenant_id`, sql`m.user_id`]

function createBranches(
  { userId, readerId, projectId }: Selection,
  after: PersonPosition | null,
  limit: number,
) {
  const position = after ?? { section: -1, projectId: lowestId, tenantId: lowestId, applicationId: lowestId }
  const cursor = sql`(${position.projectId}::uuid, ${position.section}::int, ${position.tenantId}::uuid,
    ${position.applicationId}::uuid)`
  const isOwn = sql`m.user_id = ${userId} ${projectId === null ? sql`` : sql`and m.project_id = ${projectId}`}`
  const inReadable = (condition: (reader: string) => RawBuilder<unknown>): RawBuilder<unknown> =>
    readerId === null ? sql`` : sql`and ${condition(readerId)}`
  const inProjects = inReadable((reader) => createReadableProjectSql('m.projectId', reader))
  const inTenants = inReadable(
    (reader) =>
      sql`(${createReadableProjectSql('m.projectId', reader)} or ${createReadableTenantSql('m.tenantId', reader)})`,
  )
  /** The first id to read in the project of the cursor: an index can start there. */
  const startIn = (section: number, id: string): string => {
    if (position.section === section) return id
    return position.section < section ? lowestId : highestId
  }
  const fromTenant = sql`(m.project_id, m.tenant_id) >=
    (${position.projectId}::uuid, ${startIn(sections.tenant, position.tenantId)}::uuid)`
  const isCovered = sql`exists (
    select from user2projects p where p.project_id = m.project_id and p.user_id = m.user_id)`
  // A reader who may not see the project role must not notice it by missing rows.
  const isNotCovered =
    readerId === null
      ? sql`not ${isCovered}`
      : sql`not (${createReadableProjectSql('m.projectId', readerId)} and ${isCovered})`
  return {
    projects: () => sql`
      ${selectCandidate({ scope: 'PROJECT', section: sections.project, user, project })}
      from user2projects m where ${isOwn} and m.project_id > ${position.projectId}::uuid ${inProjects}
      order by m.project_id limit ${limit}`,
    tenants: () => sql`
      ${selectCandidate({ scope: 'TENANT', section: sections.tenant, user, project, tenant })}
      from user2tenants m where ${isOwn} and ${fromTenant}
        and (m.project_id, ${sections.tenant}::int, m.tenant_id, ${lowestId}::uuid) > ${cursor} ${inTenants}
      order by m.project_id, m.tenant_id limit ${limit}`,
    tenantApplications: () => sql`
      ${selectCandidate({ scope: 'TENANT_APPLICATION', section: sections.tenant, user, project, tenant, application: sql`e.application_id` })}
      from user2tenants m
      cross join lateral (
        select enabled.application_id from tenant2applications enabled
        where enabled.tenant_id = m.tenant_id and enabled.enabled order by enabled.application_id
      ) e
      where ${isOwn} and ${fromTenant} and ${sql.raw(buildReadsApplicationsSql('m'))} and ${isNotCovered}
        and (m.project_id, ${sections.tenant}::int, m.tenant_id, e.application_id) > ${cursor} ${inTenants}
      order by m.project_id, m.tenant_id, e.application_id limit ${limit}`,
    applications: () => sql`
      ${selectCandidate({ scope: 'APPLICATION', section: sections.application, user, project, application: sql`m.application_id` })}
      from user2applications m
      where ${isOwn} and (m.project_id, m.application_id) >=
          (${position.projectId}::uuid, ${startIn(sections.application, position.applicationId)}::uuid)
        and (m.project_id, ${sections.application}::int, ${lowestId}::uuid, m.application_id) > ${cursor} ${inProjects}
      order by m.project_id, m.application_id limit ${limit}`,
  }
}
