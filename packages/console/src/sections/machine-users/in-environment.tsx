import type { ReactNode } from 'react'
import { EnvironmentBadge } from '../../kit/badge.tsx'

type InEnvironmentProps = {
  /** Ends with a label for the environment, such as "Environment:". */
  children: ReactNode
  environment: { readonly name: string; readonly protected: boolean }
}

/** A sentence that ends with the environment it applies to, so that a protected one stands out. */
export const InEnvironment = ({ children, environment }: InEnvironmentProps): ReactNode => (
  <p>
    {children} <EnvironmentBadge name={environment.name} isProtected={environment.protected} />
  </p>
)
