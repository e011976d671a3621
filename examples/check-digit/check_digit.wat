;; Says whether the last digit of a number fits the others (ISO/IEC 7812-1, annex B: the "Luhn" sum).
;; A command of WASI preview 1: a JSON request comes in, {"arguments":{"number":"…"}, …}, and one result goes out.
;; The input schema lets only digits, spaces and hyphens into the number, so that its text needs no decoding.
(module
  (import "wasi_snapshot_preview1" "fd_read"
    (func $fd_read (param $file i32) (param $places i32) (param $count i32) (param $done i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write"
    (func $fd_write (param $file i32) (param $places i32) (param $count i32) (param $done i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param $code i32)))

  ;; 0: where to read or write, and how much; 8: how much that was; 1024: the request.
  (memory (export "memory") 2)
  (global $request i32 (i32.const 1024))
  (global $most i32 (i32.const 65536))
  (data (i32.const 32) "\"number\":\"")
  (global $name i32 (i32.const 32))
  (global $name_length i32 (i32.const 10))
  (data (i32.const 64) "{\"valid\":true}")
  (data (i32.const 96) "{\"valid\":false}")
  (data (i32.const 128)
    "{\"code\":\"NUMBER_TOO_SHORT\",\"message\":\"A number with a check digit has two digits or more.\"}")

  ;; Reads standard input to its end; its length.
  (func $read (result i32) (local $length i32)
    (loop $more
      (i32.store (i32.const 0) (i32.add (global.get $request) (local.get $length)))
      (i32.store (i32.const 4) (i32.sub (global.get $most) (local.get $length)))
      (if (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)) (then (call $exit (i32.const 1))))
      (local.set $length (i32.add (local.get $length) (i32.load (i32.const 8))))
      (br_if $more (i32.load (i32.const 8))))
    (local.get $length))

  (func $write (param $text i32) (param $length i32)
    (i32.store (i32.const 0) (local.get $text))
    (i32.store (i32.const 4) (local.get $length))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))

  ;; Whether the name of the argument stands at this place.
  (func $is_name (param $at i32) (result i32) (local $index i32)
    (loop $next
      (if (i32.ne
            (i32.load8_u (i32.add (local.get $at) (local.get $index)))
            (i32.load8_u (i32.add (global.get $name) (local.get $index))))
        (then (return (i32.const 0))))
      (local.set $index (i32.add (local.get $index) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $index) (global.get $name_length))))
    (i32.const 1))

  ;; Where the number begins. A request without one ends the program.
  (func $find (param $end i32) (result i32) (local $at i32)
    (local.set $at (global.get $request))
    (loop $next
      (if (call $is_name (local.get $at)) (then (return (i32.add (local.get $at) (global.get $name_length)))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
    (call $exit (i32.const 2))
    (unreachable))

  ;; A digit that counts twice, as the sum of the digits of its double.
  (func $twice (param $digit i32) (result i32)
    (select
      (i32.sub (i32.mul (local.get $digit) (i32.const 2)) (i32.const 9))
      (i32.mul (local.get $digit) (i32.const 2))
      (i32.gt_u (local.get $digit) (i32.const 4))))

  ;; Every second digit from the right counts twice. Going from the left, both sums are kept: the one in which
  ;; the last digit so far counts once, and the one in which it counts twice. Too few digits are an error.
  (func $is_valid (param $at i32) (result i32)
    (local $once i32) (local $doubled i32) (local $digit i32) (local $kept i32) (local $count i32)
    (loop $next
      (local.set $digit (i32.sub (i32.load8_u (local.get $at)) (i32.const 48)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (if (i32.lt_u (local.get $digit) (i32.const 10))
        (then
          (local.set $count (i32.add (local.get $count) (i32.const 1)))
          (local.set $kept (local.get $once))
          (local.set $once (i32.add (local.get $doubled) (local.get $digit)))
          (local.set $doubled (i32.add (local.get $kept) (call $twice (local.get $digit))))))
      ;; The text of the number ends with a quotation mark.
      (br_if $next (i32.ne (i32.load8_u (local.get $at)) (i32.const 34))))
    (if (i32.lt_u (local.get $count) (i32.const 2))
      (then (call $write (i32.const 128) (i32.const 91)) (call $exit (i32.const 1))))
    (i32.eqz (i32.rem_u (local.get $once) (i32.const 10))))

  (func (export "_start")
    (if (call $is_valid (call $find (i32.add (global.get $request) (call $read))))
      (then (call $write (i32.const 64) (i32.const 14)))
      (else (call $write (i32.const 96) (i32.const 15))))))
