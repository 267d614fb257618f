// Reads who has access to a project, a tenant or an application. Each kind of role is one section of the list and one
// branch of the statement, in the order of an index, so a page reads no section before its cursor. A branch over many
// tenants or applications first selects those that contribute a row, at most one page of them. Without this limit, the
// planner could join and sort the whole list.
import { type RawBuilder, sql } from 'kysely'
import type { Page } from '../../platform/lists/filters.ts'
import { createFilterSql } from '../../platform/lists/page.ts'
import { createColumnQualifier } from '../../platform/lists/position.ts'
import type { Reads } from '../../platform/postgres/handles.ts'
import { buildReadsApplicationsSql } from '../../policy/has-application.ts'
import {
  type ListedRecord,
  buildHasProjectRoleSql,
  lowestId,
  readRecords,
  selectCandidate,
} from './access-records.store.ts'

/** The object, and which sections the caller may see. */
export type ObjectSelection = {
  projectId: string
  /** At most one of the two ids is set. */
  tenantId: string | null
  applicationId: string | null
  seesAdministrators: boolean
  seesProjectMembers: boolean
}

/** The position after which a page starts: a person in a parent, such as a tenant, in a section. */
export type ObjectPosition = { section: number; parentId: string; userId: string }

const sections = { system: 0, project: 1, tenant: 2, application: 3, tenantApplication: 4 }

/** Returns the place of a record in the order of the list. */
export const getObjectPosition = (record: ListedRecord): string[] => [
  String(record.section),
  record.parentId ?? lowestId,
  record.userId,
]

/** Returns the rows of an object that follow a position, at most `page.limit`. */
export function listObjectRecords(
  db: Reads,
  selection: ObjectSelection,
  after: ObjectPosition | null,
  page: Page,
): Promise<ListedRecord[]> {
  const branches = createBranches(selection, after, page)
  return readRecords(db, branches, { order: sql`section, parent_id, user_id`, limit: page.limit })
}

const user = sql`m.user_id`

function createBranches(
  selection: ObjectSelection,
  after: ObjectPosition | null,
  page: Page,
): RawBuilder<unknown>[] {
  const { tenantId, applicationId, seesAdministrators, seesProjectMembers } = selection
  const start = (section: number): Start => {
    const isHere = after?.section === section
    return {
      section,
      parentId: isHere ? after.parentId : lowestId,
      userId: isHere ? after.userId : lowestId,
      filter: createFilterSql(page, createColumnQualifier('m')),
      limit: page.limit,
    }
  }
  const isProject = tenantId === null && applicationId === null
  const branches: [section: number, isShown: boolean, build: (at: Start) => RawBuilder<unknown>][] = [
    [sections.system, seesAdministrators, listAdministrators],
    [sections.project, seesProjectMembers, (at) => listProjectMembers(selection, at)],
    [sections.tenant, tenantId !== null, (at) => listTenantMembers(selection, at)],
    [sections.tenant, isProject, (at) => listMembersOfTenants(selection, at)],
    [sections.application, applicationId !== null, (at) => listApplicationMembers(selection, at)],
    [sections.application, isProject, (at) => listMembersOfApplications(selection, at)],
    [sections.tenantApplication, applicationId !== null, (at) => listUsersOfApplication(selection, at)],
  ]
  return branches
    .filter(([section, isShown]) => isShown && section >= (after?.section ?? 0))
    .map(([section, , build]) => build(start(section)))
}

/** Where a branch starts, and how many rows it reads. */
type Start = {
  section: number
  parentId: string
  userId: string
  /** Conditions on the person, each preceded by `and`. */
  filter: RawBuilder<unknown>
  limit: number
}

const listAdministrators = ({ section, userId, filter, limit }: Start): RawBuilder<unknown> => sql`
  ${selectCandidate({ scope: 'SYSTEM', section, parent: sql`${lowestId}::uuid`, user })}
  from (select id as user_id from users where role = 'administrator') m
  where m.user_id > ${userId}::uuid ${filter} order by m.user_id limit ${limit}`

const listProjectMembers = (
  { projectId }: ObjectSelection,
  { section, userId, filter, limit }: Start,
): RawBuilder<unknown> => sql`
  ${selectCandidate({ scope: 'PROJECT', section, parent: sql`${lowestId}::uuid`, user, project: sql`m.project_id` })}
  from user2projects m where m.project_id = ${projectId} and m.user_id > ${userId}::uuid ${filter}
  order by m.user_id limit ${limit}`

const listTenantMembers = (
  { tenantId }: ObjectSelection,
  { section, userId, filter, limit }: Start,
): RawBuilder<unknown> => sql`
  ${selectCandidate({ scope: 'TENANT', section, parent: sql`m.tenant_id`, user, project: sql`m.project_id`, tenant: sql`m.tenant_id` })}
  from user2tenants m where m.tenant_id = ${tenantId} and m.user_id > ${userId}::uuid ${filter}
  order by m.user_id limit ${limit}`

const listMembersOfTenants = (
  { projectId }: ObjectSelection,
  { section, parentId, userId, filter, limit }: Start,
): RawBuilder<unknown> => {
  const members = sql`from user2tenants m
    where m.tenant_id = t.id and (t.id > ${parentId}::uuid or m.user_id > ${userId}::uuid) ${filter}`
  return sql`
    ${selectCandidate({ scope: 'TENANT', section, parent: sql`t.id`, user, project: sql`t.project_id`, tenant: sql`t.id` })}
    from (
      select t.id, t.project_id from tenants t
      where t.project_id = ${projectId} and t.id >= ${parentId}::uuid and (select true ${members} limit 1)
      order by t.id limit ${limit}
    ) t
    cross join lateral (select m.user_id ${members} order by m.user_id limit ${limit}) m
    order by t.id, m.user_id limit ${limit}`
}

const listApplicationMembers = (
  { applicationId }: ObjectSelection,
  { section, userId, filter, limit }: Start,
): RawBuilder<unknown> => sql`
  ${selectCandidate({ scope: 'APPLICATION', section, parent: sql`m.application_id`, user, project: sql`m.project_id`, application: sql`m.application_id` })}
  from user2applications m where m.application_id = ${applicationId} and m.user_id > ${userId}::uuid ${filter}
  order by m.user_id limit ${limit}`

const listMembersOfApplications = (
  { projectId }: ObjectSelection,
  { section, parentId, userId, filter, limit }: Start,
): RawBuilder<unknown> => {
  const members = sql`from user2applications m
    where m.application_id = a.id and (a.id > ${parentId}::uuid or m.user_id > ${userId}::uuid) ${filter}`
  return sql`
    ${selectCandidate({ scope: 'APPLICATION', section, parent: sql`a.id`, user, project: sql`a.project_id`, application: sql`a.id` })}
    from (
      select a.id, a.project_id from applications a
      where a.project_id = ${projectId} and a.id >= ${parentId}::uuid and (select true ${members} limit 1)
      order by a.id limit ${limit}
    ) a
    cross join lateral (select m.user_id ${members} order by m.user_id limit ${limit}) m
    order by a.id, m.user_id limit ${limit}`
}

/** Selects the people who use the application through a tenant. A project role already covers the application. */
const listUsersOfApplication = (
  { applicationId }: ObjectSelection,
  { section, parentId, userId, filter, limit }: Start,
): RawBuilder<unknown> => {
  const users = sql`from user2tenants m
    where m.tenant_id = e.tenant_id and (e.id > ${parentId}::uuid or m.user_id > ${userId}::uuid)
      and ${sql.raw(buildReadsApplicationsSql('m'))} and not ${sql.raw(buildHasProjectRoleSql('m'))} ${filter}`
  return sql`
    ${selectCandidate({ scope: 'TENANT_APPLICATION', section, parent: sql`e.id`, user, project: sql`e.project_id`, tenant: sql`e.tenant_id`, application: sql`e.application_id` })}
    from (
      select e.id, e.project_id, e.tenant_id, e.application_id from tenant2applications e
      where e.application_id = ${applicationId} and e.enabled and e.id >= ${parentId}::uuid
        and (select true ${users} limit 1)
      order by e.id limit ${limit}
    ) e
    cross join lateral (select m.user_id ${users} order by m.user_id limit ${limit}) m
    order by e.id, m.user_id limit ${limit}`
}
