// The addresses of the console that show different controls. Add the panel of a new section here, because the tests for
// roles, the policy header and overlays visit every address.
import { projectSections, systemSections } from '../../src/app/sections.ts'

export type Objects = {
  slug: string
  tenantId: string
  applicationId: string
  /** A person who is a member of the project, of the tenant and of the application. */
  personId: string
  machineUserId: string
  packId: string
  /** An enabled and a disabled version of a pilet. */
  piletId: string
  disabledPiletId: string
  /** An endpoint with a target, a template and a machine user that may call it. */
  endpointId: string
  triggerId: string
  /** A failed run of the trigger. */
  runId: string
  /** The key of a logged call of the application. */
  callKey: string
  /** The token of an invitation that every person may accept. */
  invitationToken: string
  /** A usable token of an identity provider. */
  scimTokenId: string
  /** A group with a person, and the rule that gives the person a role in the project. */
  groupId: string
  ruleId: string
  groupMemberId: string
  /** A person whom an administrator has deactivated. */
  inactiveId: string
}

const tenantTabs = ['applications', 'members', 'invitations', 'access', 'roles']
const machineUserTabs = ['summary', 'access']
const piletTabs = ['summary', 'usage', 'versions']
const endpointTabs = ['summary', 'access']
const listProvisioningViews = ({ scimTokenId, groupId, ruleId, inactiveId }: Objects): string[] => [
  `/system/users?open=${inactiveId}`,
  `/system/provisioning?open=${scimTokenId}`,
  '/system/provisioning?view=groups',
  `/system/provisioning?view=groups&open=${groupId}`,
  `/system/provisioning?view=groups&open=${groupId}&tab=people`,
  '/system/provisioning?view=rules',
  `/system/provisioning?view=rules&open=${ruleId}`,
]
const tabsToRead = {
  tenants: ['summary', 'settings'],
  applications: ['tenants', 'members', 'access', 'backends', 'endpoints'],
}

/** Lists the sections, and the tabs of panels, that have actions. */
export function listActionViews(objects: Objects): string[] {
  const { slug, tenantId, applicationId, personId, machineUserId, packId, piletId, disabledPiletId } = objects
  const { endpointId, triggerId, runId, callKey, invitationToken } = objects
  const project = `/p/${slug}`
  return [
    '/',
    ...['account', 'access', 'tokens', 'inbox', 'preferences'].map((tab) => `/me?tab=${tab}`),
    ...systemSections.map(({ path }) => `/system/${path}`),
    '/system/users?view=roles',
    `/system/users?open=${personId}`,
    `/system/users?open=${personId}&tab=access`,
    `/system/users?open=${personId}&tab=tokens`,
    ...listProvisioningViews(objects),
    `/system/tokens?view=machine&project=${slug}`,
    '/system/access-review?scope=system',
    '/system/evidence?query=access-grants',
    '/system/evidence?view=chains',
    `/invitations#${invitationToken}`,
    ...projectSections.flat().map(({ path }) => `${project}/${path}`),
    ...tenantTabs.map((tab) => `${project}/tenants?open=${tenantId}&tab=${tab}`),
    `${project}/applications?open=${applicationId}`,
    `${project}/language-packs?open=${packId}`,
    `${project}/members?in=tenant&tenant=${tenantId}`,
    `${project}/members?in=application&application=${applicationId}`,
    `${project}/members?open=${personId}`,
    `${project}/members?open=${personId}&tab=access`,
    `${project}/members?view=access`,
    `${project}/members?view=access&in=tenant&tenant=${tenantId}`,
    `${project}/members?tab=invitations`,
    `${project}/members?in=tenant&tenant=${tenantId}&tab=invitations`,
    `${project}/members?in=application&application=${applicationId}&tab=invitations`,
    `${project}/notifications?open=${applicationId}`,
    `${project}/calls?application=${applicationId}&open=${callKey}`,
    `${project}/audit?open=1`,
    ...machineUserTabs.map((tab) => `${project}/machine-users?open=${machineUserId}&tab=${tab}`),
    ...piletTabs.map((tab) => `${project}/pilets?open=${piletId}&tab=${tab}`),
    `${project}/pilets?open=${disabledPiletId}`,
    ...endpointTabs.map((tab) => `${project}/esb?open=${endpointId}&tab=${tab}`),
    `${project}/esb/${endpointId}`,
    `${project}/triggers?open=${triggerId}`,
    `${project}/triggers?open=${triggerId}&run=${runId}`,
    // Only the first environment has a specification.
    ...['dev', 'qas'].map((environment) => `${project}/deployments?open=${applicationId}.${environment}`),
  ]
}

/** Lists every section, and every tab of the panels that show these objects. */
export function listViews(objects: Objects): string[] {
  const { slug, tenantId, applicationId, endpointId, triggerId, groupMemberId } = objects
  const project = `/p/${slug}`
  return [
    ...listActionViews(objects),
    ...tabsToRead.tenants.map((tab) => `${project}/tenants?open=${tenantId}&tab=${tab}`),
    ...tabsToRead.applications.map((tab) => `${project}/applications?open=${applicationId}&tab=${tab}`),
    `${project}/members?open=${groupMemberId}`,
    `${project}/deployments?open=${applicationId}.dev&tab=backends`,
    `${project}/settings?tenant=${tenantId}&application=${applicationId}`,
    `${project}/pilets?view=feed&application=${applicationId}&tenant=${tenantId}`,
    `${project}/esb/${endpointId}?view=sample`,
    `${project}/triggers?open=${triggerId}&view=runs`,
    `${project}/calls?application=${applicationId}&status=3xx`,
    '/system/access-review?scope=system&print=1',
    '/system/evidence?query=access-grants&print=1',
  ]
}
