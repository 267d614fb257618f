// The three kinds of invitations. Their lists and mutations have the same shape.
import type { TypedDocument } from '@manager/client'
import type { ActionName } from '../../app/actions.ts'
import {
  type ProjectInvitationsResult,
  type ProjectInvitationsVariables,
  type ProjectInviteResult,
  type ProjectInviteVariables,
  applicationInvitationsDocument,
  applicationInviteDocument,
  projectInvitationsDocument,
  projectInviteDocument,
  tenantInvitationsDocument,
  tenantInviteDocument,
} from '../../generated/documents.ts'
import type { Kind } from '../members/kinds.ts'

export type Invitation = ProjectInvitationsResult['invitations']['nodes'][number]

type Operations = {
  readonly list: TypedDocument<ProjectInvitationsResult, ProjectInvitationsVariables>
  readonly invite: TypedDocument<ProjectInviteResult, ProjectInviteVariables>
}

export const operations: Readonly<Record<Kind, Operations>> = {
  project: { list: projectInvitationsDocument, invite: projectInviteDocument },
  tenant: { list: tenantInvitationsDocument, invite: tenantInviteDocument },
  application: { list: applicationInvitationsDocument, invite: applicationInviteDocument },
}

/** The object that people are invited to, and the actions of the page that shows its invitations. */
export type InvitationTarget = {
  readonly kind: Kind
  readonly object: {
    readonly id: string
    readonly name: string
    readonly myPermissions: readonly string[]
  }
  readonly actions: { readonly invite: ActionName; readonly revoke: ActionName }
}
