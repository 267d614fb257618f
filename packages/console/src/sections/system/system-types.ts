// Rows of the pages of the installation.
import type { SystemUserResult } from '../../generated/documents.ts'

export type User = SystemUserResult['user']
