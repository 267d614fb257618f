import type { Resolvers } from '../../generated/graphql.ts'
import type { GroupRulesService } from './group-rules.service.ts'
import type { GroupsService } from './groups.service.ts'

export const createGroupsResolvers = (groups: GroupsService, rules: GroupRulesService) =>
  ({
    Query: {
      provisionedGroups: (_parent, args) => groups.list(args),
      provisionedGroup: (_parent, { id }) => groups.get(id),
      groupMembers: (_parent, { group, ...args }) => groups.listMembers(group, args),
      groupRules: (_parent, args) => rules.list(args),
    },
    Mutation: {
      createGroupRule: (_parent, { input }, { actor }) => rules.create(actor, input),
      updateGroupRule: (_parent, { role, ...rule }, { actor }) => rules.updateRole(actor, rule, role),
      deleteGroupRule: (_parent, rule, { actor }) => rules.delete(actor, rule),
    },
  }) satisfies Resolvers
