// The columns of objects that count their changes. A trigger on each table maintains them.

/** The number of the last change, which starts at 1, and its time. */
export type Revised = { revision: number; updatedAt: string }

export const revisionColumns = ['revision', 'updatedAt'] as const
