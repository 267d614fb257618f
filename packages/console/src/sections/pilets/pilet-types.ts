import type { PiletListResult, PiletUsersResult } from '../../generated/documents.ts'

/** One version of a pilet. */
export type PiletVersion = PiletListResult['piletPackagesConnection']['nodes'][number]
export type PiletUsage = PiletUsersResult['piletUsage']
export type UsageEntry = PiletUsage['entries'][number]
