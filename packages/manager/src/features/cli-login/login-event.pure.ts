// Defines the audit events of a login.
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { CliLogin } from './cli-login.store.ts'

export const loginEvent = createEventBuilder<CliLogin>({
  type: 'cliLogin',
  classes: {
    id: 'public',
    userCode: 'public',
    tokenName: 'public',
    ipAddress: 'public',
    userAgent: 'public',
    status: 'public',
    userId: 'public',
    accessTokenId: 'public',
    createdAt: 'ignored',
    expiresAt: 'ignored',
  },
  nameOf: ({ tokenName, userCode }) => `${tokenName} (${userCode})`,
  projectOf: () => null,
})
