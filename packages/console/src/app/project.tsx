// The project that the address names, with the caller's permissions in it.
import { type ReactNode, createContext, use } from 'react'
import { useRead } from '../api/requests.ts'
import {
  type Permission,
  type ShellEnvironmentsResult,
  type ShellProjectResult,
  shellEnvironmentsDocument,
  shellProjectDocument,
} from '../generated/documents.ts'
import { type ActionName, may } from './actions.ts'

export type CurrentEnvironment = ShellEnvironmentsResult['environments'][number]
export type CurrentProject = ShellProjectResult['project'] & {
  /** Empty if the caller may not list the environments. */
  readonly environments: readonly CurrentEnvironment[]
}
type ProjectRead = {
  readonly project: CurrentProject | null
  readonly error: Error | null
  readonly retry: () => void
}

/** Reads a project by its slug. A member of a single tenant may open the project but not list its environments. */
export function useProjectRead(slug: string | undefined): ProjectRead {
  const base = useRead(shellProjectDocument, { slug: slug ?? '' }, { isEnabled: slug !== undefined })
  const project = base.data?.project
  const hasEnvironments = project?.myPermissions.includes('PROJECT_READ') ?? false
  const environments = useRead(
    shellEnvironmentsDocument,
    { projectId: project?.id ?? '' },
    { isEnabled: hasEnvironments },
  )
  const list = hasEnvironments ? environments.data?.environments : []
  return {
    project: project === undefined || list === undefined ? null : { ...project, environments: list },
    error: project === undefined ? base.error : environments.error,
    retry: () => void (project === undefined ? base.refetch() : environments.refetch()),
  }
}

const ProjectContext = createContext<CurrentProject | null>(null)

export const ProjectProvider = ({
  project,
  children,
}: {
  project: CurrentProject
  children: ReactNode
}): ReactNode => <ProjectContext value={project}>{children}</ProjectContext>

/** Returns the project of the current page. Only pages below `/p/<slug>/` have one. */
export function useProject(): CurrentProject {
  const project = use(ProjectContext)
  if (project === null) throw new Error('this page has no project')
  return project
}

/** Returns whether the caller has a permission on the project of the page, for panels that only read. */
export const useCan = (permission: Permission): boolean => useProject().myPermissions.includes(permission)

/** Returns whether the caller may use an action on the project of the page. */
export const useMay = (action: ActionName): boolean => may(useProject(), action)
