// Operations on invitations.
import { seedProject } from '@manager/harness/seed.ts'
import { type Kind, seedInvitation } from '../kit/invitations.ts'
import { type Operation, op } from './operation.ts'
import { type Principal, everyone, maintainers, tenantManagers } from './principals.ts'
import { type MatrixWorld, newSlug } from './world.ts'

const invitersToTenant = [...maintainers, ...tenantManagers]
const input = '{email: "guest@example.com", role: "readonly"}'

/** Invites to a new project, in which none of the principals is a member. Returns the token. */
async function makeToken({ service, people }: MatrixWorld): Promise<string> {
  const project = await seedProject(service.sql, newSlug())
  return (await seedInvitation(service.sql, project, { inviter: people.administrator })).token
}

/** The rights on an invitation depend on its kind. */
const revokeOperation = (kind: Kind, allow: Principal[]): Operation =>
  op(
    'Mutation.revokeInvitation',
    kind === 'tenant' ? 'tenantInvitations' : 'projectInvitations',
    allow,
    (_, id) => `revokeInvitation(id: "${id}") { id }`,
    {
      make: async ({ service, people }, target) => {
        const role = kind === 'tenant' ? 'member' : 'readonly'
        const invitation = { kind, inviter: people.administrator, role }
        return (await seedInvitation(service.sql, target, invitation)).id
      },
    },
  )

const queries: Operation[] = [
  op(
    'Query.projectInvitations',
    'project',
    maintainers,
    (t) => `{ projectInvitations(project: "${t.id}") { id } }`,
  ),
  op(
    'Query.tenantInvitations',
    'tenant',
    invitersToTenant,
    (t) => `{ tenantInvitations(tenant: "${t.tenantId}") { id } }`,
  ),
  op(
    'Query.applicationInvitations',
    'application',
    maintainers,
    (t) => `{ applicationInvitations(application: "${t.applicationId}") { id } }`,
  ),
  op('Query.invitation', 'system', everyone, (_, token) => `{ invitation(token: "${token}") { role } }`, {
    make: makeToken,
  }),
  op(
    'Invitation.inviter',
    'project',
    maintainers,
    (t) => `{ projectInvitations(project: "${t.id}") { inviter { id } } }`,
  ),
  op(
    'Invitation.acceptor',
    'project',
    maintainers,
    (t) => `{ projectInvitations(project: "${t.id}") { acceptor { id } } }`,
  ),
]

const mutations: Operation[] = [
  op(
    'Mutation.inviteToProject',
    'project',
    maintainers,
    (t) => `inviteToProject(projectID: "${t.id}", input: ${input}) { delivery }`,
  ),
  op(
    'Mutation.inviteToTenant',
    'tenant',
    invitersToTenant,
    (t) =>
      `inviteToTenant(tenantID: "${t.tenantId}", input: {email: "guest@example.com", roleName: "member"}) { delivery }`,
  ),
  op(
    'Mutation.inviteToApplication',
    'application',
    maintainers,
    (t) => `inviteToApplication(applicationID: "${t.applicationId}", input: ${input}) { delivery }`,
  ),
  revokeOperation('tenant', invitersToTenant),
  revokeOperation('project', maintainers),
  revokeOperation('application', maintainers),
  op(
    'Mutation.acceptInvitation',
    'system',
    everyone,
    (_, token) => `acceptInvitation(token: "${token}") { role }`,
    { make: makeToken },
  ),
].map((operation) => ({ ...operation, text: (target, id) => `mutation { ${operation.text(target, id)} }` }))

export const invitationOperations: Operation[] = [...queries, ...mutations]
