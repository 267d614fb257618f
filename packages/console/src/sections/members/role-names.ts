// The names of the roles of projects and applications, from the highest to the lowest.
export const projectRoles = ['owner', 'maintainer', 'developer', 'tester', 'readonly'] as const
export const applicationRoles = ['normal', 'readonly'] as const
