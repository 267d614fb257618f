import { conflict } from '../../platform/errors.ts'

/** The conflict error for a second direct role of a user in one object. */
export const createMemberExistsError = (kind: 'project' | 'tenant' | 'application'): Error =>
  conflict(`the user is already a member of the ${kind}; change the role instead`, 'userID')
