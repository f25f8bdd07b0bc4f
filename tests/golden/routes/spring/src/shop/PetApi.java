package shop;

import org.springframework.web.bind.annotation.*;

@RequestMapping("/pets")
public interface PetApi {
    @GetMapping("/{id}")
    String pet(@PathVariable int id);
}
