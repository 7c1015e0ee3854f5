@_exported import Shellac
