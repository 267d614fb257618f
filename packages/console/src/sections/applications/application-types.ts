// Types of API rows, as the pages about applications read them.
import type { ApplicationDetailResult, ApplicationListResult } from '../../generated/documents.ts'

export type Application = ApplicationDetailResult['applicationById']
export type ApplicationRow = ApplicationListResult['applicationsConnection']['nodes'][number]
