// The actions of the console: the permission that shows their control, and the mutations behind it. Only this table
// decides whether a section shows a control. Tests compare the table with the policy of the API and with the controls
// that each role sees. Each control has the name of its action in `data-action`.
import type { Permission } from '../generated/documents.ts'

export type Action = {
  /** The object whose permissions decide. */
  readonly on: 'system' | 'project' | 'tenant' | 'application'
  readonly permission: Permission
  /** Every mutation that the control can send. */
  readonly mutations: readonly string[]
  /** Queries behind the control that require a separate permission. */
  readonly queries?: readonly string[]
  /** The path of the REST route that the control requests. */
  readonly route?: string
  /** The method of the route; by default, GET. */
  readonly method?: 'POST'
  /** The path to which the control sends a file. */
  readonly upload?: string
}

export const actions = {
  'projects.create': { on: 'system', permission: 'PROJECT_CREATE', mutations: ['createProject'] },
  'inbox.markRead': { on: 'system', permission: 'NOTIFICATION_MARK', mutations: ['markMyNotificationsRead'] },

  'tokens.create': {
    on: 'system',
    permission: 'ACCESS_TOKEN_WRITE',
    mutations: ['createPersonalAccessToken'],
  },
  'tokens.revoke': {
    on: 'system',
    permission: 'ACCESS_TOKEN_WRITE',
    mutations: ['revokePersonalAccessToken'],
  },
  'tokens.delete': {
    on: 'system',
    permission: 'ACCESS_TOKEN_WRITE',
    mutations: ['deletePersonalAccessToken'],
  },
  'invitations.accept': {
    on: 'system',
    permission: 'INVITATION_ACCEPT',
    mutations: ['acceptInvitation'],
  },
  // Reports and evidence are reads. The Manager records each of them.
  'accessReview.read': {
    on: 'system',
    permission: 'ACCESS_REVIEW',
    mutations: [],
    route: '/api/access/review',
  },
  'accessReview.attest': {
    on: 'system',
    permission: 'ACCESS_REVIEW',
    mutations: [],
    route: '/api/access/review/attest',
    method: 'POST',
  },
  'evidence.run': {
    on: 'system',
    permission: 'EVIDENCE_READ',
    mutations: [],
    route: '/api/audit/evidence/:name',
  },
  'users.changeRole': { on: 'system', permission: 'USER_WRITE', mutations: ['updateUserSystemRole'] },
  'users.deactivate': { on: 'system', permission: 'USER_WRITE', mutations: ['deactivateUser'] },
  'users.reactivate': { on: 'system', permission: 'USER_WRITE', mutations: ['reactivateUser'] },

  'provisioning.createToken': {
    on: 'system',
    permission: 'SCIM_TOKEN_WRITE',
    mutations: ['createScimToken'],
  },
  'provisioning.revokeToken': {
    on: 'system',
    permission: 'SCIM_TOKEN_WRITE',
    mutations: ['revokeScimToken'],
  },
  'provisioning.createRule': { on: 'system', permission: 'GROUP_WRITE', mutations: ['createGroupRule'] },
  'provisioning.changeRule': { on: 'system', permission: 'GROUP_WRITE', mutations: ['updateGroupRule'] },
  'provisioning.deleteRule': { on: 'system', permission: 'GROUP_WRITE', mutations: ['deleteGroupRule'] },

  'tenants.create': { on: 'project', permission: 'TENANT_WRITE', mutations: ['createTenant'] },
  'tenants.edit': { on: 'tenant', permission: 'TENANT_WRITE', mutations: ['updateTenant'] },
  'tenants.delete': { on: 'tenant', permission: 'TENANT_WRITE', mutations: ['deleteTenant'] },
  'tenants.copySettings': {
    on: 'tenant',
    permission: 'SETTINGS_WRITE',
    mutations: ['copyTenant2ApplicationConfig'],
  },
  // Undoing the first switch removes the row.
  'tenants.switchApplication': {
    on: 'tenant',
    permission: 'TENANT2APPLICATION_WRITE',
    mutations: ['createTenant2Application', 'updateTenant2Application', 'deleteTenant2Application'],
  },
  'tenants.removeApplication': {
    on: 'tenant',
    permission: 'TENANT2APPLICATION_WRITE',
    mutations: ['deleteTenant2Application'],
  },
  'tenants.addMember': { on: 'tenant', permission: 'TENANT_MEMBER_WRITE', mutations: ['addUserToTenant'] },
  'tenants.changeMember': {
    on: 'tenant',
    permission: 'TENANT_MEMBER_WRITE',
    mutations: ['updateUserTenantRole'],
  },
  'tenants.removeMember': {
    on: 'tenant',
    permission: 'TENANT_MEMBER_WRITE',
    mutations: ['removeUserFromTenant'],
  },
  'tenants.invite': { on: 'tenant', permission: 'INVITATION_WRITE', mutations: ['inviteToTenant'] },
  'tenants.revokeInvitation': {
    on: 'tenant',
    permission: 'INVITATION_WRITE',
    mutations: ['revokeInvitation'],
  },
  'tenants.createRole': {
    on: 'tenant',
    permission: 'TENANT_ROLE_WRITE',
    mutations: ['createTenantRoleDefinition'],
  },
  'tenants.editRole': {
    on: 'tenant',
    permission: 'TENANT_ROLE_WRITE',
    mutations: ['updateTenantRoleDefinition'],
  },
  'tenants.deleteRole': {
    on: 'tenant',
    permission: 'TENANT_ROLE_WRITE',
    mutations: ['deleteTenantRoleDefinition'],
  },

  'applications.create': { on: 'project', permission: 'APPLICATION_WRITE', mutations: ['createApplication'] },
  'applications.edit': {
    on: 'application',
    permission: 'APPLICATION_WRITE',
    mutations: ['updateApplication'],
  },
  'applications.delete': {
    on: 'application',
    permission: 'APPLICATION_WRITE',
    mutations: ['deleteApplication'],
  },

  'access.change': {
    on: 'project',
    permission: 'TENANT2APPLICATION_WRITE',
    mutations: ['createTenant2Application', 'updateTenant2Application'],
  },

  'settings.change': {
    on: 'project',
    permission: 'SETTINGS_WRITE',
    mutations: [
      'setSettingsKeys',
      'updateBackendModuleConfig',
      'updateFrontendModuleConfig',
      'ensureTenant2ApplicationSettings',
    ],
  },

  'languagePacks.create': {
    on: 'project',
    permission: 'LANGUAGE_PACK_WRITE',
    mutations: ['createLanguagePack'],
  },
  'languagePacks.change': {
    on: 'project',
    permission: 'LANGUAGE_PACK_WRITE',
    mutations: ['setLanguagePackKeys'],
  },
  'languagePacks.delete': {
    on: 'project',
    permission: 'LANGUAGE_PACK_WRITE',
    mutations: ['deleteLanguagePack'],
  },

  'members.project.add': {
    on: 'project',
    permission: 'PROJECT_MEMBER_WRITE',
    mutations: ['addUserToProject'],
  },
  'members.project.change': {
    on: 'project',
    permission: 'PROJECT_MEMBER_WRITE',
    mutations: ['updateUserProjectRole'],
  },
  'members.project.remove': {
    on: 'project',
    permission: 'PROJECT_MEMBER_WRITE',
    mutations: ['removeUserFromProject'],
  },
  'members.tenant.add': { on: 'tenant', permission: 'TENANT_MEMBER_WRITE', mutations: ['addUserToTenant'] },
  'members.tenant.change': {
    on: 'tenant',
    permission: 'TENANT_MEMBER_WRITE',
    mutations: ['updateUserTenantRole'],
  },
  'members.tenant.remove': {
    on: 'tenant',
    permission: 'TENANT_MEMBER_WRITE',
    mutations: ['removeUserFromTenant'],
  },
  'members.application.add': {
    on: 'application',
    permission: 'APPLICATION_MEMBER_WRITE',
    mutations: ['addUserToApplication'],
  },
  'members.application.change': {
    on: 'application',
    permission: 'APPLICATION_MEMBER_WRITE',
    mutations: ['updateUserApplicationRole'],
  },
  'members.application.remove': {
    on: 'application',
    permission: 'APPLICATION_MEMBER_WRITE',
    mutations: ['removeUserFromApplication'],
  },
  'members.project.invite': {
    on: 'project',
    permission: 'INVITATION_WRITE',
    mutations: ['inviteToProject'],
  },
  'members.project.revokeInvitation': {
    on: 'project',
    permission: 'INVITATION_WRITE',
    mutations: ['revokeInvitation'],
  },
  'members.tenant.invite': { on: 'tenant', permission: 'INVITATION_WRITE', mutations: ['inviteToTenant'] },
  'members.tenant.revokeInvitation': {
    on: 'tenant',
    permission: 'INVITATION_WRITE',
    mutations: ['revokeInvitation'],
  },
  'members.application.invite': {
    on: 'application',
    permission: 'INVITATION_WRITE',
    mutations: ['inviteToApplication'],
  },
  'members.application.revokeInvitation': {
    on: 'application',
    permission: 'INVITATION_WRITE',
    mutations: ['revokeInvitation'],
  },

  'triggers.create': { on: 'project', permission: 'TRIGGER_WRITE', mutations: ['createTrigger'] },
  'triggers.edit': { on: 'project', permission: 'TRIGGER_WRITE', mutations: ['updateTrigger'] },
  'triggers.toggle': { on: 'project', permission: 'TRIGGER_WRITE', mutations: ['updateTrigger'] },
  'triggers.delete': { on: 'project', permission: 'TRIGGER_WRITE', mutations: ['deleteTrigger'] },
  'triggers.run': { on: 'project', permission: 'TRIGGER_RUN', mutations: ['runTrigger'] },
  'triggers.retry': { on: 'project', permission: 'TRIGGER_RUN', mutations: ['retryTriggerRun'] },

  // The verification and the export are reads.
  'audit.verify': {
    on: 'project',
    permission: 'AUDIT_VERIFY',
    mutations: [],
    queries: ['verifyAuditChain'],
  },
  'audit.export': {
    on: 'system',
    permission: 'AUDIT_EXPORT',
    mutations: [],
    route: '/api/audit/export',
  },
  'pilets.upload': {
    on: 'project',
    permission: 'PILET_UPLOAD',
    mutations: [],
    upload: '/pilets/:projectId/:name/:version',
  },
  'pilets.enable': { on: 'project', permission: 'PILET_WRITE', mutations: ['enablePiletPackage'] },
  'pilets.disable': { on: 'project', permission: 'PILET_UPLOAD', mutations: ['disablePiletPackage'] },
  'pilets.describe': { on: 'project', permission: 'PILET_WRITE', mutations: ['updatePiletPackage'] },
  'pilets.pin': {
    on: 'project',
    permission: 'SETTINGS_WRITE',
    mutations: ['setPiletPins', 'ensureTenant2ApplicationSettings'],
  },

  'machineUsers.create': {
    on: 'project',
    permission: 'MACHINE_USER_WRITE',
    mutations: ['createMachineUserWithCredentials'],
  },
  'machineUsers.rename': {
    on: 'project',
    permission: 'MACHINE_USER_WRITE',
    mutations: ['updateMachineUser'],
  },
  'machineUsers.rotate': {
    on: 'project',
    permission: 'MACHINE_USER_WRITE',
    mutations: ['rotateMachineUserToken'],
  },
  'machineUsers.toggle': {
    on: 'project',
    permission: 'MACHINE_USER_WRITE',
    mutations: ['updateMachineUser'],
  },
  'machineUsers.delete': {
    on: 'project',
    permission: 'MACHINE_USER_WRITE',
    mutations: ['deleteMachineUser'],
  },
  // Undoing the first switch removes the row.
  'machineUsers.switchAccess': {
    on: 'project',
    permission: 'ENDPOINT_ACCESS_WRITE',
    mutations: ['createMachineUser2Endpoint', 'updateMachineUser2Endpoint', 'deleteMachineUser2Endpoint'],
  },
  'machineUsers.removeAccess': {
    on: 'project',
    permission: 'ENDPOINT_ACCESS_WRITE',
    mutations: ['deleteMachineUser2Endpoint'],
  },

  'deployments.create': {
    on: 'application',
    permission: 'DEPLOYMENT_WRITE',
    mutations: ['createDeploymentSpecification'],
  },
  'deployments.edit': {
    on: 'application',
    permission: 'DEPLOYMENT_WRITE',
    mutations: ['updateDeploymentSpecification'],
  },
  'deployments.delete': {
    on: 'application',
    permission: 'DEPLOYMENT_WRITE',
    mutations: ['deleteDeploymentSpecification'],
  },
  'deployments.wake': {
    on: 'application',
    permission: 'DEPLOYMENT_WAKE',
    mutations: ['wakeDeployment'],
  },

  'esb.create': { on: 'project', permission: 'ENDPOINT_WRITE', mutations: ['createEndpoint'] },
  'esb.edit': { on: 'project', permission: 'ENDPOINT_WRITE', mutations: ['updateEndpoint'] },
  'esb.toggle': { on: 'project', permission: 'ENDPOINT_WRITE', mutations: ['updateEndpoint'] },
  'esb.delete': { on: 'project', permission: 'ENDPOINT_WRITE', mutations: ['deleteEndpoint'] },
  'esb.saveTemplate': { on: 'project', permission: 'ENDPOINT_WRITE', mutations: ['updateEndpoint'] },
  'esb.preview': { on: 'project', permission: 'ENDPOINT_PREVIEW', mutations: ['previewESBTransform'] },
  'esb.test': { on: 'project', permission: 'ENDPOINT_TEST', mutations: ['testEndpoint'] },
  // Undoing the first switch removes the row.
  'esb.switchAccess': {
    on: 'project',
    permission: 'ENDPOINT_ACCESS_WRITE',
    mutations: ['createMachineUser2Endpoint', 'updateMachineUser2Endpoint', 'deleteMachineUser2Endpoint'],
  },
} as const satisfies Record<string, Action>

export type ActionName = keyof typeof actions

/** Returns whether the caller may use an action on an object that was read with `myPermissions`. */
export const may = (
  object: { readonly myPermissions: readonly string[] } | null | undefined,
  action: ActionName,
): boolean => object?.myPermissions.includes(actions[action].permission) ?? false
