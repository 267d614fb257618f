// Invites people and accepts invitations through the API.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Person, QueryService } from '@manager/harness/callers.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'
import type { SeededProject } from '@manager/harness/seed.ts'
import type { Pool } from 'pg'

export type Kind = 'project' | 'tenant' | 'application'
type Input = {
  email: string
  /** The name of the role, for tenants too. */
  role: string
  expiresInDays?: number | null
  requireSameEmail?: boolean | null
}

const invitationFields =
  'id email role requireSameEmail state createdAt expiresAt acceptedAt revokedAt inviter { id } acceptor { id }'
const operations = {
  project: { field: 'inviteToProject', argument: 'projectID', list: 'projectInvitations' },
  tenant: { field: 'inviteToTenant', argument: 'tenantID', list: 'tenantInvitations' },
  application: { field: 'inviteToApplication', argument: 'applicationID', list: 'applicationInvitations' },
}

/** Returns the id of the project, its tenant or its application. */
export const idOf = (kind: Kind, { id, tenantId, applicationId }: SeededProject): string =>
  ({ project: id, tenant: tenantId, application: applicationId })[kind]

/** Returns the token of an invitation link. */
export const tokenOf = (link: string): string => link.slice(link.indexOf('#') + 1)

/** Returns functions that call the operations. The service may start later. */
export function invitationCalls(getService: () => QueryService) {
  const invite = (caller: Person, kind: Kind, id: string, { role, ...input }: Input) => {
    const { field, argument } = operations[kind]
    const [type, roleField] =
      kind === 'tenant' ? ['CreateTenantInvitationInput', 'roleName'] : ['CreateInvitationInput', 'role']
    return getService().query(
      caller,
      `mutation($id: ID!, $input: ${type}!) {
        created: ${field}(${argument}: $id, input: $input) { link delivery invitation { ${invitationFields} } } }`,
      { id, input: { ...input, [roleField]: role } },
    )
  }
  return {
    invite,

    /** Invites a person, and returns the id of the invitation and its token. Throws if the call fails. */
    inviteOrFail: async (
      caller: Person,
      kind: Kind,
      id: string,
      input: Input,
    ): Promise<{ id: string; token: string }> => {
      const { data, error } = await invite(caller, kind, id, input)
      if (error !== null) throw new Error(error)
      return { id: data.created.invitation.id as string, token: tokenOf(data.created.link as string) }
    },

    list: (caller: Person, kind: Kind, id: string, state?: string): Promise<GraphqlAnswer> =>
      getService().query(
        caller,
        `query($id: ID!, $state: String) {
          rows: ${operations[kind].list}(${kind}: $id, state: $state, order: {field: "createdAt"}) {
            ${invitationFields} } }`,
        { id, state },
      ),

    preview: (caller: Person, token: string): Promise<GraphqlAnswer> =>
      getService().query(
        caller,
        `query($token: String!) { invitation(token: $token) {
          kind projectName tenantName applicationName role inviterName inviterEmail expiresAt } }`,
        { token },
      ),

    accept: (caller: Person, token: string): Promise<GraphqlAnswer> =>
      getService().query(
        caller,
        `mutation($token: String!) { accepted: acceptInvitation(token: $token) {
          kind projectSlug projectName tenantSlug applicationSlug role } }`,
        { token },
      ),

    revoke: (caller: Person, id: string): Promise<GraphqlAnswer> =>
      getService().query(
        caller,
        `mutation($id: ID!) { revoked: revokeInvitation(id: $id) { ${invitationFields} } }`,
        { id },
      ),
  }
}

/** Inserts an open invitation and returns its token. By default, every person may accept it. */
export async function seedInvitation(
  sql: Pool,
  project: SeededProject,
  { kind = 'project', inviter, role = 'readonly', email = 'guest@example.com' }: SeededInvitation,
): Promise<{ id: string; token: string }> {
  const id = randomUUID()
  const token = `inv_${randomBytes(32).toString('base64url')}`
  await sql.query(
    `insert into invitations (id, project_id, tenant_id, application_id, email, role, require_same_email, token_hash,
       inviter_id, expires_at) values ($1, $2, $3, $4, $5, $6, false, $7, $8, now() + interval '1 day')`,
    [
      id,
      project.id,
      kind === 'tenant' ? project.tenantId : null,
      kind === 'application' ? project.applicationId : null,
      email,
      role,
      createHash('sha256').update(token).digest(),
      inviter.id,
    ],
  )
  return { id, token }
}
type SeededInvitation = { kind?: Kind; inviter: { id: string }; role?: string; email?: string }
