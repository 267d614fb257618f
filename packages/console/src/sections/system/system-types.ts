// Types of API rows, as the system pages read them.
import type { SystemUserResult } from '../../generated/documents.ts'

export type User = SystemUserResult['user']
