// The page sizes that a list offers.
export const pageSizes = [25, 50, 100] as const
export type PageSize = (typeof pageSizes)[number]
