// Objects that make every control of the console appear: a person with all kinds of memberships, a role that can be
// deleted, notifications, settings, and a deployment that can be woken.
import { randomUUID } from 'node:crypto'
import { seedMachineUser, seedMember } from '@manager/harness/seed.ts'
import { seedSpecification } from '../../../manager/test/kit/deployments.ts'
import { seedEndpoint, seedEndpointAccess } from '../../../manager/test/kit/endpoints.ts'
import { seedNotifications } from '../../../manager/test/kit/inbox.ts'
import { seedInvitation } from '../../../manager/test/kit/invitations.ts'
import { seedTrigger } from '../../../manager/test/kit/triggers.ts'
import type { Scene } from './scene.ts'
import { seedFailedCall } from './seed-calls.ts'
import { seedPack } from './seed-pack.ts'
import { seedPilets } from './seed-pilets.ts'
import { seedProvisioning } from './seed-provisioning.ts'
import { seedFailedRun } from './seed-runs.ts'
import { seedSettings } from './seed-settings.ts'
import type { Objects } from './views.ts'

export async function seedObjects({ service, project, admin, member }: Scene): Promise<Objects> {
  const { sql } = service
  const { id: projectId, slug, tenantId, applicationId } = project
  const colleague = await member('colleague', 'tester')
  await seedMember(sql, colleague, 'member', { projectId, tenantId })
  await seedMember(sql, colleague, 'readonly', { projectId, applicationId })
  await sql.query(
    "insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions) values ($1, $2, $3, 'auditor', '{}')",
    [randomUUID(), projectId, tenantId],
  )
  await seedNotifications(sql, { tenantId, applicationId }, [admin], [{ title: 'Late' }])
  await seedSettings(sql, project, 'project', { 'mail.from': 'help@example.com' })
  await seedSettings(sql, project, 'tenant', { 'smtp.password': 'never shown' })
  const { id: machineUserId } = await seedMachineUser(sql, project)
  await seedSpecification(sql, project, { scaleToZero: true })
  const packId = await seedPack(sql, projectId, 'de', { 'orders.title': 'Bestellungen', 'orders.empty': '' })
  await seedPack(sql, projectId, 'en', { 'orders.title': 'Orders', 'app.title': 'Shop' })
  const pilets = await seedPilets(sql, project)
  const endpointId = await seedCallable(sql, project, machineUserId)
  const triggerId = await seedTrigger(sql, project)
  const runId = await seedFailedRun({ service, project }, triggerId)
  const callKey = await seedFailedCall(sql, { projectId, endpointId, machineUserId })
  return {
    slug,
    callKey,
    invitationToken: await seedInvitations(sql, project, admin),
    tenantId,
    applicationId,
    personId: colleague.id,
    machineUserId,
    packId,
    endpointId,
    triggerId,
    runId,
    ...pilets,
    ...(await seedProvisioning(sql, project, admin)),
  }
}

/** Inserts an open invitation of each kind, and returns the token of one that every person may accept. */
export async function seedInvitations(
  sql: Scene['service']['sql'],
  project: Scene['project'],
  inviter: Scene['admin'],
): Promise<string> {
  await seedInvitation(sql, project, { kind: 'tenant', inviter, role: 'member' })
  await seedInvitation(sql, project, { kind: 'application', inviter })
  return (await seedInvitation(sql, project, { inviter })).token
}

/** Inserts an endpoint with a target and a template with a warning, which the machine user may call. */
export async function seedCallable(
  sql: Scene['service']['sql'],
  project: Scene['project'],
  machineUserId: string,
): Promise<string> {
  const endpointId = await seedEndpoint(sql, project)
  await sql.query(
    "update endpoints set url = 'https://partner.example/orders', transformation_template = $2 where id = $1",
    [endpointId, '{"id": {{toJson .Data.id}},\n"vat": {{toJson .Data.vat}}}'],
  )
  await seedEndpointAccess(sql, { projectId: project.id, endpointId, machineUserId })
  return endpointId
}
