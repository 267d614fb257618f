// This feature stores the groups of identity providers, and the rules with which administrators give the members of a group
// roles. scim/ receives the groups, and memberships/ writes the roles.
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import { type GroupRulesDeps, createGroupRulesService } from './group-rules.service.ts'
import { createGroupsResolvers } from './groups.resolvers.ts'
import { createGroupsService } from './groups.service.ts'
import {
  type ProvisionedGroupsService,
  createProvisionedGroupsService,
} from './provisioned-groups.service.ts'

/** Creates, changes and deletes groups in the transaction of the caller. */
export type GroupsApi = { provisioned: ProvisionedGroupsService }

export const groups = defineFeature({
  name: 'groups',
  sdl: readSdl(import.meta.url, './groups.graphql'),
  constraints: {
    scim_groups_display_name_key: ['conflict', 'another group has this displayName; comparisons ignore case'],
    // A 503 makes the identity provider repeat the request.
    scim_group_members_user_fkey: [
      'unavailable',
      'the person joined a group or was deleted at the same time; try again',
    ],
    group_rules_object_key: [
      'conflict',
      'the group already has a rule for this object; change the role of that rule',
      'input.groupId',
    ],
    group_rules_project_fkey: ['not_found', 'project not found'],
    group_rules_tenant_fkey: ['not_found', 'tenant not found'],
    group_rules_application_fkey: ['not_found', 'application not found'],
    group_rules_tenant_role_fkey: [
      'conflict',
      'a group rule gives this role; ask an administrator to change the rule first',
    ],
  },
  create: (deps: GroupRulesDeps) => {
    const service = createGroupsService(deps)
    const api: GroupsApi = { provisioned: createProvisionedGroupsService(deps.memberships) }
    return {
      resolvers: createGroupsResolvers(service, createGroupRulesService(deps)),
      links: { ProvisionedGroup: { noun: 'group', findMany: service.findMany } },
      api,
    }
  },
})
