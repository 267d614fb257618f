// Reads what one person has access to. Each kind of membership is one branch of a statement that starts at the cursor,
// so the cost of a page does not depend on the memberships of others or on the number of pages before it. The branch of
// applications in tenants first selects the tenants of the page; otherwise the planner could join and sort all of them.
import { type RawBuilder, sql } from 'kysely'
import type { Reads } from '../../platform/postgres/handles.ts'
import { buildReadsApplicationsSql } from '../../policy/has-application.ts'
import { createReadableProjectSql, createReadableTenantSql } from '../../policy/readable-members.ts'
import {
  type ListedRecord,
  buildHasProjectRoleSql,
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

function createBranches(selection: Selection, after: PersonPosition | null, limit: number) {
  const { userId, readerId, projectId } = selection
  const position = after ?? { section: -1, projectId: lowestId, tenantId: lowestId, applicationId: lowestId }
  const inReadable = (condition: (reader: string) => RawBuilder<unknown>): RawBuilder<unknown> =>
    readerId === null ? sql`` : sql`and ${condition(readerId)}`
  const inProjects = inReadable((reader) => createReadableProjectSql('m.projectId', reader))
  const inTenants = inReadable(
    (reader) =>
      sql`(${createReadableProjectSql('m.projectId', reader)} or ${createReadableTenantSql('m.tenantId', reader)})`,
  )
  /** Returns the condition for the memberships from a position on, as one range of an index. */
  const createRange = (section: number, column: string, id: string): RawBuilder<unknown> => {
    const ids = sql`(m.project_id, ${sql.ref(`m.${column}`)})`
    const end = projectId === null ? sql`` : sql`and ${ids} <= (${projectId}::uuid, ${highestId}::uuid)`
    const [startProject, startId] = findStart({ position, projectId, section, id })
    return sql`m.user_id = ${userId} and ${ids} >= (${startProject}::uuid, ${startId}::uuid) ${end}`
  }
  const fromTenant = createRange(sections.tenant, 'tenantId', position.tenantId)
  const cursorTenant = position.section < sections.tenant ? lowestId : position.tenantId
  const cursorPair = sql`(${position.projectId}::uuid, ${cursorTenant}::uuid, ${position.applicationId}::uuid)`
  const applications = sql`from tenant2applications e
    where e.tenant_id = m.tenant_id and e.enabled
      and (m.project_id, m.tenant_id, e.application_id) > ${cursorPair}`
  // A reader who may not see the project role must not notice it by missing rows.
  const isCovered = sql`${sql.raw(buildHasProjectRoleSql('m'))} ${inReadable((reader) => createReadableProjectSql('m.projectId', reader))}`
  return {
    projects: () => sql`
      ${selectCandidate({ scope: 'PROJECT', section: sections.project, user, project })}
      from user2projects m where m.user_id = ${userId} and m.project_id > ${position.projectId}::uuid
        ${projectId === null ? sql`` : sql`and m.project_id = ${projectId}`} ${inProjects}
      order by m.project_id limit ${limit}`,
    tenants: () => sql`
      ${selectCandidate({ scope: 'TENANT', section: sections.tenant, user, project, tenant })}
      from user2tenants m where ${fromTenant}
        and (m.project_id, m.tenant_id) > (${position.projectId}::uuid, ${cursorTenant}::uuid) ${inTenants}
      order by m.project_id, m.tenant_id limit ${limit}`,
    // One condition instead of three: the planner multiplies their estimates, and would otherwise expect so few rows
    // that it reads all memberships and sorts them.
    tenantApplications: () => sql`
      ${selectCandidate({ scope: 'TENANT_APPLICATION', section: sections.tenant, user, project, tenant, application: sql`e.application_id` })}
      from (
        select m.user_id, m.project_id, m.tenant_id from user2tenants m
        where ${fromTenant} and case when ${isCovered} or not ${sql.raw(buildReadsApplicationsSql('m'))} then false
          else (select true ${applications} limit 1) end ${inTenants}
        order by m.project_id, m.tenant_id limit ${limit}
      ) m
      cross join lateral (select e.application_id ${applications} order by e.application_id limit ${limit}) e
      order by m.project_id, m.tenant_id, e.application_id limit ${limit}`,
    applications: () => sql`
      ${selectCandidate({ scope: 'APPLICATION', section: sections.application, user, project, application: sql`m.application_id` })}
      from user2applications m
      where ${createRange(sections.application, 'applicationId', position.applicationId)}
        and (m.project_id, m.application_id) > (${position.projectId}::uuid,
          ${position.section < sections.application ? lowestId : position.applicationId}::uuid) ${inProjects}
      order by m.project_id, m.application_id limit ${limit}`,
  }
}

type Start = { position: PersonPosition; projectId: string | null; section: number; id: string }

/** Returns the project and the tenant or application at which a section starts. */
function findStart({ position, projectId, section, id }: Start): [projectId: string, id: string] {
  if (projectId !== null && position.projectId !== projectId) return [projectId, lowestId]
  if (position.section === section) return [position.projectId, id]
  return [position.projectId, position.section < section ? lowestId : highestId]
}
