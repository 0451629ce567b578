// Permissions as a number, as credentials store them: a bit for each.
import { ALL_PERMISSIONS, type Permission } from "../api/permissions.ts";
import { PERMISSION_BITS } from "./codes.ts";

// JavaScript's bitwise operators have 32 bits only.
const toBit = (permission: Permission): number => 2 ** PERMISSION_BITS[permission];
export const toBits = (permissions: readonly Permission[]): number =>
  [...new Set(permissions)].reduce((bits, permission) => bits + toBit(permission), 0);
/** A bit that this version does not know grants nothing. */
export const permissionsIn = (bits: number): Permission[] =>
  ALL_PERMISSIONS.filter((permission) => Math.floor(bits / toBit(permission)) % 2 === 1);
