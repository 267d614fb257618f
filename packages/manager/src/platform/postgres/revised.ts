// The columns that store the revision of an object. A trigger on each table maintains them.

/** The number and the time of the last change. Numbers start at 1. */
export type RevisionFields = { revision: number; updatedAt: string }

export const revisionColumns = ['revision', 'updatedAt'] as const
