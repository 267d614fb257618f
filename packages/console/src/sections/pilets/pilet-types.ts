import type { PiletListResult, PiletUsersResult } from '../../generated/documents.ts'

/** One version of a pilet. */
export type PiletVersion = PiletListResult['piletPackagesConnection']['nodes'][number]
/** A settings layer that enables or pins a pilet. */
export type UsageEntry = PiletUsersResult['piletUsage']['entries'][number]
