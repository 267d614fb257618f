// The rows of effective access, and the queries that read them.
import type { TypedDocument } from '@manager/client'
import {
  type PersonReachResult,
  type ProjectReachResult,
  type ProjectReachVariables,
  applicationReachDocument,
  projectReachDocument,
  tenantReachDocument,
} from '../../generated/documents.ts'

export type ReachRow = PersonReachResult['access']['nodes'][number]
export type Reason = ReachRow['reasons'][number]

/** The kinds of objects and of roles that this console knows. A newer service can have more. */
const scopes = ['SYSTEM', 'PROJECT', 'TENANT', 'APPLICATION', 'TENANT_APPLICATION'] as const
const reasonKinds = ['SYSTEM_ROLE', 'PROJECT_ROLE', 'TENANT_ROLE', 'APPLICATION_ROLE'] as const

/** Returns the scope if this console knows it. */
export const findScope = ({ scope }: ReachRow) => scopes.find((known) => known === scope)
/** Returns the kind of a reason if this console knows it. */
export const findReasonKind = ({ kind }: Reason) => reasonKinds.find((known) => known === kind)

/** The kinds of objects that people can reach. */
export type ReachKind = 'project' | 'tenant' | 'application'

export const reachDocuments: Readonly<
  Record<ReachKind, TypedDocument<ProjectReachResult, ProjectReachVariables>>
> = {
  project: projectReachDocument,
  tenant: tenantReachDocument,
  application: applicationReachDocument,
}

/** Identifies a row: a person occurs once for each object. */
export const identifyRow = ({ user, scope, project, tenant, application }: ReachRow): string =>
  [user.id, scope, project?.id, tenant?.id, application?.id].join('.')
