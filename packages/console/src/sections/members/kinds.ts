// The three kinds of memberships. Their lists and mutations have the same shape.
import type { TypedDocument } from '@manager/client'
import {
  type AddProjectMemberVariables,
  type ChangeProjectRoleVariables,
  type PersonProjectsResult,
  type PersonProjectsVariables,
  type ProjectMembersResult,
  type ProjectMembersVariables,
  type RemoveProjectMemberVariables,
  addApplicationMemberDocument,
  addProjectMemberDocument,
  addTenantMemberDocument,
  applicationMembersDocument,
  changeApplicationRoleDocument,
  changeProjectRoleDocument,
  changeTenantRoleDocument,
  personApplicationsDocument,
  personProjectsDocument,
  personTenantsDocument,
  projectMembersDocument,
  removeApplicationMemberDocument,
  removeProjectMemberDocument,
  removeTenantMemberDocument,
  tenantMembersDocument,
} from '../../generated/documents.ts'

export const kinds = ['project', 'tenant', 'application'] as const
export type Kind = (typeof kinds)[number]

export type Member = ProjectMembersResult['members']['nodes'][number]
type ProjectMembership = PersonProjectsResult['user']['memberships']['nodes'][number]
type MembershipObject = ProjectMembership['object'] & {
  /** The project of a tenant or an application. */
  readonly project?: { readonly id: string; readonly name: string; readonly slug: string }
}
export type OwnMembership = Omit<ProjectMembership, 'object'> & { readonly object: MembershipObject }

/** One membership, with the person and the object that it connects. */
export type Membership = {
  readonly kind: Kind
  readonly id: string
  readonly role: string
  /** The rule that gives the role to a group of the person; null if the role was given directly. */
  readonly groupRuleId: string | null
  readonly revision: number
  readonly object: { readonly id: string; readonly name: string }
  readonly person: { readonly id: string; readonly name: string }
}

type Operations = {
  readonly list: TypedDocument<ProjectMembersResult, ProjectMembersVariables>
  readonly listOfPerson: TypedDocument<
    { user: { memberships: { nodes: readonly OwnMembership[]; totalCount: number; isTotalExact: boolean } } },
    PersonProjectsVariables
  >
  readonly add: TypedDocument<unknown, AddProjectMemberVariables>
  readonly change: TypedDocument<unknown, ChangeProjectRoleVariables>
  readonly remove: TypedDocument<unknown, RemoveProjectMemberVariables>
  /** The name of the API's field for filtering and ordering by role. */
  readonly roleField: string
}

export const operations: Readonly<Record<Kind, Operations>> = {
  project: {
    list: projectMembersDocument,
    listOfPerson: personProjectsDocument,
    add: addProjectMemberDocument,
    change: changeProjectRoleDocument,
    remove: removeProjectMemberDocument,
    roleField: 'role',
  },
  tenant: {
    list: tenantMembersDocument,
    listOfPerson: personTenantsDocument,
    add: addTenantMemberDocument,
    change: changeTenantRoleDocument,
    remove: removeTenantMemberDocument,
    roleField: 'roleName',
  },
  application: {
    list: applicationMembersDocument,
    listOfPerson: personApplicationsDocument,
    add: addApplicationMemberDocument,
    change: changeApplicationRoleDocument,
    remove: removeApplicationMemberDocument,
    roleField: 'role',
  },
}
