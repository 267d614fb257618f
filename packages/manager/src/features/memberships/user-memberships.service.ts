import type { Actor } from '../../policy/actor.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { type ListArgs, type ListFields, type Page, readPage } from '../../platform/lists/filters.ts'
import * as applications from './application-members.store.ts'
import * as projects from './project-members.store.ts'
import * as tenants from './tenant-members.store.ts'

export type UserMembershipsService = ReturnType<typeof createUserMembershipsService>

type ListMemberships<Row> = (
  db: Db['read'],
  userIds: readonly string[],
  readerId: string | null,
  page: Page,
) => Promise<Row[]>

/** Lists the memberships of users that the caller may read. */
export function createUserMembershipsService({ db }: { db: Db }) {
  const createList =
    <Row>(fields: ListFields, listMemberships: ListMemberships<Row>) =>
    (actor: Actor, userIds: readonly string[], args: ListArgs): Promise<Row[]> =>
      listMemberships(db.read, userIds, actor.isAdministrator ? null : actor.user.id, readPage(fields, args))
  return {
    listProjects: createList(projects.projectMembershipFields, projects.listProjectMemberships),
    listTenants: createList(tenants.tenantMembershipFields, tenants.listTenantMemberships),
    listApplications: createList(
      applications.applicationMembershipFields,
      applications.listApplicationMemberships,
    ),
  }
}
